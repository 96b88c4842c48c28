/** One queue for both languages: first come, first served. */
import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../../src/index.ts';
import { fairQueueKey, fairTimeoutKey } from '../../../src/keys.ts';
import type { RawReply } from '../../../src/testing/index.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from '../support/context.ts';
import { javaLock } from '../support/java-objects.ts';
import { IN_TIME, keysOf, LEASE_MS } from '../support/moments.ts';
import { PLAIN_AND_BRACED } from '../support/names.ts';

const LEASE = { leaseMs: LEASE_MS };
const WAITERS = 8;
const SHORT_WAIT_MS = 3_000;
/** Others queue up meanwhile, on a machine that runs many tests at once. */
const ENDING_LEASE_MS = 12_000;

type Language = 'Java' | 'Node';

export function describeFairLock(interop: Interop): void {
  async function queueOf(name: string): Promise<string[]> {
    const queue = await interop.place.command(name, 'LRANGE', fairQueueKey(name), 0, -1);
    return (queue as RawReply[]).map(String);
  }

  /** Lets somebody begin to wait. Resolves when they stand in the queue, whoever has left it meanwhile. */
  async function queueUp<Turn>(name: string, start: () => Promise<Turn>) {
    const before = await queueOf(name);
    const turn = start();
    const owner = await eventually(async () => {
      const newcomer = (await queueOf(name)).find((each) => !before.includes(each));
      return newcomer ?? false;
    }, IN_TIME);
    return { turn, owner };
  }

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
    describe.each(PLAIN_AND_BRACED)('under %s', (_title, makeName) => {
      it.each<[Language, Language, Language]>([
        ['Node', 'Java', 'Node'],
        ['Node', 'Node', 'Java'],
        ['Java', 'Java', 'Node'],
        ['Java', 'Node', 'Java'],
      ])('held by %s, then %s and %s in turns: served in order', async (holder, even, odd) => {
        const name = makeName();
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
          const { turn } = await queueUp(name, visit);
          visits.push(turn);
        }
        expect(await queueOf(name)).toHaveLength(WAITERS);
        expect(await interop.place.command(name, 'ZCARD', fairTimeoutKey(name))).toBe(WAITERS);
        await giveBack();
        await Promise.all(visits);
        expect(served).toEqual(came);
        expect(await keysOf(interop, name)).toEqual([]);
      });

      it('a waiter that gives up leaves the queue, and no waiter behind loses its place', async () => {
        const { node, java } = interop;
        const name = makeName();
        const ours = node.getFairLock(name);
        const giveBack = await take('Node', name);
        const served: string[] = [];
        const takeNoted = async (language: Language) => {
          const leave = await take(language, name);
          served.push(language);
          return leave;
        };
        const short = { waitMs: SHORT_WAIT_MS, ...LEASE };
        const theirShort = await queueUp(name, () => javaLock(java, 'fair', name).tryLock(short));
        const ourShort = await queueUp(name, () => ours.tryLock(short));
        const abort = new AbortController();
        const aborted = await queueUp(name, () => ours.lock({ ...LEASE, signal: abort.signal }));
        const fourth = await queueUp(name, () => takeNoted('Java'));
        const fifth = await queueUp(name, () => takeNoted('Node'));

        abort.abort(new Error('changed my mind'));
        await expect(aborted.turn).rejects.toThrow('changed my mind');
        expect(await theirShort.turn).toBe(false);
        expect(await ourShort.turn).toBeNull();
        const staying = [fourth.owner, fifth.owner];
        await eventually(async () => expect(await queueOf(name)).toEqual(staying), IN_TIME);
        await giveBack();
        await (await fourth.turn)();
        await (await fifth.turn)();
        expect(served).toEqual(['Java', 'Node']);
        expect(await keysOf(interop, name)).toEqual([]);
      });

      it('a caller that does not wait does not overtake waiters', async () => {
        const { node, java, place } = interop;
        const name = makeName();
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
    });

    if (interop.habits.fairWaitersMayMissTheEnd) return;

    it('leases that end pass the turn on, from Node to Java to Node', async () => {
      const { node, java } = interop;
      const passTurns = async (name: string) => {
        const ours = node.getFairLock(name);
        const first = await ours.lock({ leaseMs: ENDING_LEASE_MS });
        const second = await queueUp(name, () => javaLock(java, 'fair', name).lock({ leaseMs: 500 }));
        const third = await queueUp(name, () => ours.lock(LEASE));
        expect(await second.turn).toBe(true);
        expect(() => first.assertHeld()).toThrow(LeaseLostError);
        expect(await (await third.turn).unlock()).toBe(true);
        expect(await keysOf(interop, name)).toEqual([]);
      };
      // At once, since it takes a whole lease.
      await Promise.all(PLAIN_AND_BRACED.map(([, makeName]) => passTurns(makeName())));
    });
  });
}
