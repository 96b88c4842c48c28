/** One queue for both languages: first come, first served. */
import { describe, expect, it } from 'vitest';
import { fairQueueKey, fairTimeoutKey } from '../../src/keys.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import type { Interop } from './context.ts';
import { javaLock } from './java-objects.ts';
import { IN_TIME, keysOf, LEASE_MS } from './moments.ts';

const LEASE = { leaseMs: LEASE_MS };
const WAITERS = 8;
/** Long enough for all to queue up meanwhile. */
const SHORT_WAIT_MS = 4_000;

type Language = 'Java' | 'Node';

export function describeFairLock(interop: Interop): void {
  const untilQueued = (name: string, waiters: number) =>
    eventually(
      async () => (await interop.place.command(name, 'LLEN', fairQueueKey(name))) === waiters,
      IN_TIME,
    );

  /** Takes the lock in a language; resolves with what gives it back. */
  async function take(language: Language, name: string): Promise<() => Promise<unknown>> {
    if (language === 'Node') {
      const hold = await interop.node.getFairLock(name).lock(LEASE);
      return () => hold.unlock();
    }
    const theirs = javaLock(interop.java, 'fair', name);
    await theirs.lock(LEASE);
    return () => theirs.unlock();
  }

  describe('the fair queue', () => {
    it.each<[Language, Language, Language]>([
      ['Node', 'Java', 'Node'],
      ['Node', 'Node', 'Java'],
      ['Java', 'Java', 'Node'],
      ['Java', 'Node', 'Java'],
    ])('held by %s, then %s and %s in turns: served as they came', async (holder, even, odd) => {
      const name = randomName('interop');
      const giveBack = await take(holder, name);
      const came: string[] = [];
      const served: string[] = [];
      const visits: Promise<void>[] = [];
      for (let place = 0; place < WAITERS; place += 1) {
        const language = place % 2 === 0 ? even : odd;
        const visitor = `${language} ${place}`;
        const visit = async () => {
          const leave = await take(language, name);
          served.push(visitor);
          await leave();
        };
        came.push(visitor);
        visits.push(visit());
        await untilQueued(name, place + 1);
      }
      expect(await interop.place.command(name, 'ZCARD', fairTimeoutKey(name))).toBe(WAITERS);
      await giveBack();
      await Promise.all(visits);
      expect(served).toEqual(came);
      expect(await keysOf(interop, name)).toEqual([]);
    });

    it('who gives up leaves the queue, and nobody behind loses a place', async () => {
      const { node, java } = interop;
      const name = randomName('interop');
      const ours = node.getFairLock(name);
      const giveBack = await take('Node', name);
      const served: string[] = [];
      const note = (who: string) => (leave: () => Promise<unknown>) => {
        served.push(who);
        return leave;
      };
      const theirShort = javaLock(java, 'fair', name).tryLock({ waitMs: SHORT_WAIT_MS, ...LEASE });
      await untilQueued(name, 1);
      const ourShort = ours.tryLock({ waitMs: SHORT_WAIT_MS, ...LEASE });
      await untilQueued(name, 2);
      const abort = new AbortController();
      const aborted = ours.lock({ ...LEASE, signal: abort.signal });
      await untilQueued(name, 3);
      const fourth = take('Java', name).then(note('Java'));
      await untilQueued(name, 4);
      const fifth = take('Node', name).then(note('Node'));
      await untilQueued(name, 5);

      abort.abort(new Error('changed my mind'));
      await expect(aborted).rejects.toThrow('changed my mind');
      expect(await theirShort).toBe(false);
      expect(await ourShort).toBeNull();
      await untilQueued(name, 2);
      await giveBack();
      await (await fourth)();
      await (await fifth)();
      expect(served).toEqual(['Java', 'Node']);
      expect(await keysOf(interop, name)).toEqual([]);
    });

    it('nobody who does not wait overtakes those who do', async () => {
      const { node, java, place } = interop;
      const name = randomName('interop');
      const ours = node.getFairLock(name);
      // Free, with somebody at the head who does not come.
      const diesAt = Date.now() + LEASE_MS;
      await place.command(name, 'RPUSH', fairQueueKey(name), 'somebody:1');
      await place.command(name, 'ZADD', fairTimeoutKey(name), diesAt, 'somebody:1');
      expect(await javaLock(java, 'fair', name).tryLock()).toBe(false);
      expect(await ours.tryLock()).toBeNull();
      await place.command(name, 'ZADD', fairTimeoutKey(name), Date.now() - 1, 'somebody:1');
      expect(await javaLock(java, 'fair', name).tryLock({ waitMs: 0, ...LEASE })).toBe(true);
    });

    if (interop.habits.fairWaitersMayMissTheEnd) return;

    it('leases that end pass the turn on, from Node to Java to Node', async () => {
      const { node, java } = interop;
      const name = randomName('interop');
      const ours = node.getFairLock(name);
      const first = await ours.lock({ leaseMs: SHORT_WAIT_MS });
      const second = javaLock(java, 'fair', name).lock({ leaseMs: 500 });
      await untilQueued(name, 1);
      const third = ours.lock(LEASE);
      await untilQueued(name, 2);
      expect(await second).toBe(true);
      expect(first.signal.aborted).toBe(true);
      expect(await (await third).unlock()).toBe(true);
      expect(await keysOf(interop, name)).toEqual([]);
    });
  });
}
