/**
 * What a client tells about its holds, and what stands in Redis, for logs and for people.
 */
import { once } from 'node:events';
import { Holdfast } from 'holdfast';
import { redisUrl } from './redis-url.ts';

// A short watchdog, so that a hold deleted by somebody else is noticed within a third of a second.
await using holder = await Holdfast.connect(redisUrl, { watchdogMs: 900 });
await using operator = await Holdfast.connect(redisUrl);
holder.on('lost', ({ name, reason }) => console.log(`Event: ${name} is lost (${reason}).`));

const hold = await holder.getLock('example:watched').lock();
const description = await operator.inspect('example:watched');
if (description.kind !== 'lock') throw new Error(`found ${description.kind}`);
console.log(
  `Held by the holder: ${description.holder === hold.owner}, entered ${description.holdCount} time.`,
);

const listed = await operator.list('example:watch*');
console.log(`Listed: ${listed.map(({ key }) => key).join(', ')}.`);

const lost = once(hold.signal, 'abort');
console.log(`Freed by an operator: ${await operator.getLock('example:watched').forceUnlock()}.`);
await lost;
console.log(`The holder may not go on: ${hold.remainingMs} ms left.`);
