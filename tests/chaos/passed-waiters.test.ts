/** Those who wait in the process that has the lock: giving up as it is passed on, and entering it again afterwards. */
import { expect, it } from 'vitest';
import { NotHeldError } from '../../src/index.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { LAYOUTS, PASSED_ON } from './support/kinds.ts';
import { passedOn } from './support/passed-on.ts';
import { expectNothingLeft, setUp } from './support/passed-stage.ts';

describeWithProcess('a waiter that gives up as the lock is passed on', () => {
  it.each(PASSED_ON)('before it: the next in line gets the lock, $title', async (kind) => {
    const { server, client, name } = await setUp();
    const lock = kind.get(client, name);
    const controller = new AbortController();
    const [first, second, third] = [lock.lock(), lock.lock({ signal: controller.signal }), lock.lock()];
    const former = await first;
    controller.abort(new Error('no more'));
    const unlocking = former.unlock();
    await expect(second).rejects.toThrow('no more');
    expect(await unlocking).toBe(true);
    const hold = await third;
    expect(hold.owner).toBe(former.owner);
    expect(await hold.unlock()).toBe(true);
    await expectNothingLeft(server, name);
  });

  it.each(PASSED_ON)(
    'after it, in the same turn: the waiter has the lock and releases it, $title',
    async (kind) => {
      const { server, client, name } = await setUp();
      const lock = kind.get(client, name);
      const controller = new AbortController();
      const [first, second, third] = [lock.lock(), lock.lock({ signal: controller.signal }), lock.lock()];
      const former = await first;
      const unlocking = former.unlock();
      controller.abort(new Error('no more'));
      expect(await unlocking).toBe(true);
      const hold = await second;
      expect(hold.owner).toBe(former.owner);
      expect(hold.signal.aborted).toBe(false);
      expect(await hold.unlock()).toBe(true);
      expect(await (await third).unlock()).toBe(true);
      await expectNothingLeft(server, name);
    },
  );

  it.each(PASSED_ON)('all waiters at once: the lock is released, $title', async (kind) => {
    const { server, client, name } = await setUp();
    const lock = kind.get(client, name);
    const controller = new AbortController();
    const { signal } = controller;
    const first = lock.lock();
    const waiters = Array.from({ length: 20 }, () => lock.lock({ signal }).catch(() => 'gave up'));
    const former = await first;
    controller.abort();
    expect(await former.unlock()).toBe(true);
    expect(new Set(await Promise.all(waiters))).toEqual(new Set(['gave up']));
    await expectNothingLeft(server, name);
  });
});

describeWithProcess('an owner that the lock was passed to', () => {
  it.each(LAYOUTS)('enters the lock again, and only its last entry is passed on: $title', async (kind) => {
    const { server, client, name } = await setUp();
    const lock = kind.get(client, name);
    const owner = client.owner();
    const { former, hold, behind } = await passedOn(lock, { second: { owner }, behind: 1 });
    const again = await lock.lock({ owner });
    expect(again.owner).toBe(former.owner);
    expect(await lock.getHoldCount({ owner })).toBe(2);
    if (kind.title === 'getLock') expect(await kind.countOn(server, name)).toBe(2);
    // Either entry may be given back first.
    expect(await hold.unlock()).toBe(true);
    expect(await lock.getHoldCount({ owner })).toBe(1);
    if (kind.title === 'getLock') expect(await kind.countOn(server, name)).toBe(1);
    again.assertHeld();
    expect(await again.unlock()).toBe(true);
    const next = await behind[0];
    expect(next?.owner).toBe(former.owner);
    expect(await lock.isHeld({ owner })).toBe(false);
    await expect(lock.unlock({ owner })).rejects.toThrow(NotHeldError);
    expect(await kind.holderOn(server, name)).toBe(next?.owner);
    expect(await next?.unlock()).toBe(true);
    await expectNothingLeft(server, name);
  });

  it.each(LAYOUTS)('nests sections in the lock: $title', async (kind) => {
    const { server, client, name } = await setUp();
    const lock = kind.get(client, name);
    const steps: string[] = [];
    const fields = new Set<string>();
    const section = (who: string) =>
      lock.withLock(async (outer) => {
        steps.push(`${who} in`);
        fields.add(outer.owner);
        await lock.withLock(async (inner) => {
          expect(inner.owner).toBe(outer.owner);
          expect(await lock.getHoldCount()).toBe(2);
        });
        expect(await lock.getHoldCount()).toBe(1);
        outer.assertHeld();
        steps.push(`${who} out`);
      });
    await Promise.all(['a', 'b', 'c'].map(section));
    expect(steps).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
    expect(fields.size).toBe(1);
    await expectNothingLeft(server, name);
  });
});
