/** A release hands the lock to the next waiter of this process, where clients pass locks on. */
import { expect, inject, it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { describeThrough } from './support/context.ts';
import { NON_REENTRANT, REENTRANT, SIMPLE } from './support/kinds.ts';

/** No test here takes so long: only the options decide whether a lock is passed on. */
const UNHURRIED = { maxMs: 60_000 };

describeThrough('passing on', (context) => {
  const isOn = inject('passing') !== 'off';

  it(`is ${isOn ? 'on' : 'off'} unless a client is told`, async () => {
    const lock = (await context.client()).getLock(randomName());
    const fields: string[] = [];
    // A release that comes after the budget of 10 ms is a real one; of many, some come before it.
    const waiters = Array.from({ length: 100 }, async () => {
      const hold = await lock.lock();
      fields.push(hold.owner);
      expect(await hold.unlock()).toBe(true);
    });
    await Promise.all(waiters);
    const different = new Set(fields).size;
    if (isOn) expect(different).toBeLessThan(fields.length);
    else expect(different).toBe(fields.length);
  });

  it.each([REENTRANT, NON_REENTRANT, SIMPLE])('is what the client is told: $title', async (kind) => {
    for (const passOn of [UNHURRIED, false]) {
      const lock = kind.of(await context.client({ passOn }), randomName());
      const [first, second] = [lock.lock(), lock.lock()];
      const former = await first;
      expect(await former.unlock()).toBe(true);
      const hold = await second;
      expect(hold.owner === former.owner).toBe(passOn !== false);
      expect(await hold.unlock()).toBe(true);
      expect(await lock.isLocked()).toBe(false);
    }
  });
});
