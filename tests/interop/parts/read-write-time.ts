/** Readers and writers of both languages that have only so much time: to wait, or to hold. */
import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../../src/index.ts';
import { readWriteChannel } from '../../../src/keys.ts';
import type { Interop } from '../support/context.ts';
import { javaLock } from '../support/java-objects.ts';
import { READ, WRITE } from '../support/kinds.ts';
import { expectWokenByMessage, givingUp, LEASE_MS, untilHeard, wakeUpMs } from '../support/moments.ts';
import { PLAIN_AND_BRACED } from '../support/names.ts';

const LEASE = { leaseMs: LEASE_MS };
const SHORT_LEASE = { leaseMs: 800 };
const LONG_WAIT_MS = LEASE_MS / 2;

type Language = 'Java' | 'Node';
type Side = 'reader' | 'writer';
const SIDES = { reader: READ, writer: WRITE };

/** Who holds, and who wants to come in. */
const MEETINGS: [Side, Language, Side, Language][] = [
  ['writer', 'Java', 'reader', 'Node'],
  ['writer', 'Node', 'reader', 'Java'],
  ['reader', 'Java', 'writer', 'Node'],
  ['reader', 'Node', 'writer', 'Java'],
];

interface Held {
  unlock(): Promise<boolean>;
}

export function describeReadWriteTime(interop: Interop): void {
  const ours = (side: Side, name: string) => SIDES[side].of(interop.node, name);
  const theirs = (side: Side, name: string) => javaLock(interop.java, SIDES[side].java, name);

  async function take(side: Side, language: Language, name: string): Promise<Held> {
    if (language === 'Node') return ours(side, name).lock(LEASE);
    const lock = theirs(side, name);
    await lock.lock(LEASE);
    return lock;
  }

  /** Begins to wait; what it resolves with tells when that has begun, and what comes of it. */
  function tryToTake(side: Side, language: Language, name: string, waitMs: number) {
    const options = { waitMs, ...LEASE };
    if (language === 'Node') {
      const taken: Promise<Held | null> = ours(side, name).tryLock(options);
      return { taken, untilWaiting: () => untilHeard(interop, readWriteChannel(name)) };
    }
    const lock = theirs(side, name);
    const taken: Promise<Held | null> = lock.tryLock(options).then((isTaken) => (isTaken ? lock : null));
    return { taken, untilWaiting: () => lock.untilAsleep() };
  }

  /** Takes it for a short time; resolves with what shows that this was all. */
  async function takeForShort(side: Side, language: Language, name: string): Promise<() => Promise<void>> {
    if (language === 'Node') {
      const hold = await ours(side, name).lock(SHORT_LEASE);
      return async () => {
        expect(() => hold.assertHeld()).toThrow(LeaseLostError);
        expect(await hold.unlock()).toBe(false);
      };
    }
    const lock = theirs(side, name);
    await lock.lock(SHORT_LEASE);
    return () => expect(lock.unlock()).rejects.toThrow('IllegalMonitorStateException');
  }

  describe('a read/write lock and time', () => {
    describe.each(PLAIN_AND_BRACED)('under %s', (_title, makeName) => {
      it.each(MEETINGS)(
        'a %s of %s makes a %s of %s time out, and another that waits longer gets the lock afterwards',
        async (holding, holder, wanting, waiter) => {
          const busy = makeName();
          await take(holding, holder, busy);
          expect(await givingUp((waitMs) => tryToTake(wanting, waiter, busy, waitMs).taken)).toBeNull();
          await expectWokenByMessage(async () => {
            const name = makeName();
            const held = await take(holding, holder, name);
            const { taken, untilWaiting } = tryToTake(wanting, waiter, name, LONG_WAIT_MS);
            await untilWaiting();
            const tookMs = await wakeUpMs(() => held.unlock(), taken);
            expect(await (await taken)?.unlock()).toBe(true);
            return tookMs;
          });
        },
      );
    });

    it.each(MEETINGS)(
      'the lease of a %s of %s ends: a waiting %s of %s gets the lock',
      async (holding, holder, wanting, waiter) => {
        const passOn = async (name: string) => {
          const expectLost = await takeForShort(holding, holder, name);
          const next = await tryToTake(wanting, waiter, name, LONG_WAIT_MS).taken;
          await expectLost();
          expect(await next?.unlock()).toBe(true);
        };
        // At once, since it takes a whole lease.
        await Promise.all(PLAIN_AND_BRACED.map(([, makeName]) => passOn(makeName())));
      },
    );
  });
}
