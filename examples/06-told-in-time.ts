/**
 * `signal` stops work that takes longer than its lease, before another owner gets the lock.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Holdfast, LeaseLostError } from 'holdfast';
import { redisUrl } from './redis-url.ts';

await using slow = await Holdfast.connect(redisUrl);
await using next = await Holdfast.connect(redisUrl);
const NAME = 'example:report';

const hold = await slow.getLock(NAME).lock({ leaseMs: 2_000 });
const nextIsIn = next.getLock(NAME).withLock(() => console.log('2. The next owner has the lock.'));

try {
  await sleep(60_000, undefined, { signal: hold.signal });
} catch {
  const reason: unknown = hold.signal.reason;
  if (!(reason instanceof LeaseLostError)) throw reason;
  console.log(`1. The signal tells the holder to stop (${reason.reason}).`);
}
await nextIsIn;

try {
  hold.assertHeld();
} catch (error) {
  console.log(`3. No side effect from here on: ${(error as LeaseLostError).code}.`);
}
console.log(`4. A late unlock() answers ${await hold.unlock()}: the next owner keeps the lock.`);
