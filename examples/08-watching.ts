/**
 * The events of a client about its holds, and the keys in Redis, for logs and for operators.
 */
import { once } from 'node:events';
import { Holdfast } from 'holdfast';
import { redisUrl } from './redis-url.ts';

// A short watchdog: the holder notices within 0.3 s that its hold was deleted.
await using holder = await Holdfast.connect(redisUrl, { watchdogMs: 900, label: 'the night shift' });
await using operator = await Holdfast.connect(redisUrl);
holder.on('lost', ({ name, reason }) => console.log(`Event: ${name} is lost (${reason}).`));

const hold = await holder.getLock('example:watched').lock();
const description = await operator.inspect('example:watched');
if (description.kind !== 'lock') throw new Error(`found ${description.kind}`);
const [{ owner, client, holdCount }] = description.holders;
console.log(`Held by the holder: ${owner === hold.owner}, entered ${holdCount} time.`);
console.log(`The holder is ${client?.label}.`);

const listed = await operator.list('example:watch*');
console.log(`Listed: ${listed.map(({ key }) => key).join(', ')}.`);

const lost = once(hold.signal, 'abort');
console.log(`Freed by an operator: ${await operator.getLock('example:watched').forceUnlock()}.`);
await lost;
console.log(`The holder must stop: ${hold.remainingMs} ms left.`);
