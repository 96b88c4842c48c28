/**
 * Try without waiting, wait for a limited time, and see which owner holds the lock.
 */
import { AcquireTimeoutError, Holdfast } from 'holdfast';
import { redisUrl } from './redis-url.ts';

await using here = await Holdfast.connect(redisUrl);
await using there = await Holdfast.connect(redisUrl);
const NAME = 'example:printer';

const hold = await there.getLock(NAME).lock();

const once = await here.getLock(NAME).tryLock();
console.log(`One try: ${once === null ? 'busy' : 'held'}.`);

try {
  await here.getLock(NAME).withLock(() => console.log('printing'), { waitMs: 100 });
} catch (error) {
  if (!(error instanceof AcquireTimeoutError)) throw error;
  const whose = error.holder === hold.owner ? 'the other client' : 'another owner';
  console.log(`Waited ${error.waitedMs} ms: ${error.code}; the holder is ${whose}.`);
}

const waiting = here.getLock(NAME).tryLock({ waitMs: 10_000 });
await hold.unlock();
const second = await waiting;
console.log(`Waited for the release: ${second === null ? 'busy' : 'held'}.`);
await second?.unlock();
