/** Readers and writers of both languages at one lock. */
import { describe, expect, it } from 'vitest';
import type { Hold } from '../../../src/index.ts';
import { readWriteChannel } from '../../../src/keys.ts';
import { randomName } from '../../harness/names.ts';
import type { Interop } from '../support/context.ts';
import { type JavaLock, javaLock } from '../support/java-objects.ts';
import {
  expectWokenByMessage,
  isPending,
  keysOf,
  LEASE_MS,
  untilHeard,
  wakeUpMs,
} from '../support/moments.ts';
import { PLAIN_AND_BRACED } from '../support/names.ts';

const LEASE = { leaseMs: LEASE_MS };
const AT_ONCE = { waitMs: 0, leaseMs: LEASE_MS };

type Language = 'Java' | 'Node';
const PAIRS: [Language, Language][] = [
  ['Java', 'Java'],
  ['Java', 'Node'],
  ['Node', 'Java'],
  ['Node', 'Node'],
];

export function describeReadWriteLock(interop: Interop): void {
  const ours = (name: string) => interop.node.getReadWriteLock(name);
  const reader = (name: string, thread?: string) => javaLock(interop.java, 'read', name, thread);
  const writer = (name: string, thread?: string) => javaLock(interop.java, 'write', name, thread);

  async function expectNoWriterGetsIn(name: string): Promise<void> {
    expect(await ours(name).writeLock().tryLock()).toBeNull();
    expect(await writer(name).tryLock(AT_ONCE)).toBe(false);
  }

  async function expectNoReaderGetsIn(name: string): Promise<void> {
    expect(await ours(name).readLock().tryLock()).toBeNull();
    expect(await reader(name).tryLock(AT_ONCE)).toBe(false);
  }

  async function expectGone(lock: JavaLock): Promise<void> {
    const unlocked = lock.unlock();
    if (interop.habits.canUnlockWhatIsGone) expect(await unlocked).toBe(true);
    else await expect(unlocked).rejects.toThrow('IllegalMonitorStateException');
  }

  /** Starts to wait for the write lock in a language; resolves once it does, with what tells of the grant. */
  async function waitToWrite(language: Language, name: string) {
    if (language === 'Node') {
      const granted = ours(name).writeLock().lock(LEASE);
      await untilHeard(interop, readWriteChannel(name));
      return { granted, leave: async () => (await granted).unlock() };
    }
    const theirs = writer(name);
    const granted = theirs.lock(LEASE);
    await theirs.untilAsleep();
    return { granted, leave: () => theirs.unlock() };
  }

  describe('the read/write lock', () => {
    describe.each(PLAIN_AND_BRACED)('under %s', (_title, makeName) => {
      it.each(PAIRS)(
        'readers of both share the lock; after the last reader, of %s, a writer of %s gets it',
        (last, language) =>
          expectWokenByMessage(async () => {
            const name = makeName();
            const theirReaders: [JavaLock, JavaLock] = [reader(name), reader(name)];
            const ourReaders: Hold[] = [];
            for (const each of theirReaders) {
              await each.lock(LEASE);
              ourReaders.push(await ours(name).readLock().lock(LEASE));
            }
            await expectNoWriterGetsIn(name);
            expect([await reader(name).isLocked(), await writer(name).isLocked()]).toEqual([true, false]);
            expect(await ours(name).readLock().isLocked()).toBe(true);
            expect(await ours(name).writeLock().isLocked()).toBe(false);
            const { granted, leave } = await waitToWrite(language, name);
            const leaves = [
              ...theirReaders.map((each) => () => each.unlock()),
              ...ourReaders.map((hold) => () => hold.unlock()),
            ];
            if (last === 'Java') leaves.reverse();
            const lastLeaves = leaves.pop() as () => Promise<boolean>;
            for (const each of leaves) expect(await each()).toBe(true);
            expect(await isPending(interop, granted, name)).toBe(true);
            expect(await interop.place.command(name, 'PTTL', name)).toBeGreaterThan(LEASE_MS / 2);
            const tookMs = await wakeUpMs(lastLeaves, granted);
            await leave();
            expect(await keysOf(interop, name)).toEqual([]);
            return tookMs;
          }),
      );

      it.each<[Language]>([['Java'], ['Node']])(
        'after a writer of %s, waiting readers of both get the lock at once',
        (language) =>
          expectWokenByMessage(async () => {
            const name = makeName();
            const theirWriter = writer(name);
            const ourHold = language === 'Node' ? await ours(name).writeLock().lock(LEASE) : undefined;
            if (language === 'Java') await theirWriter.lock(LEASE);
            await expectNoReaderGetsIn(name);
            const theirReaders = [reader(name), reader(name), reader(name)];
            const theirTurns = theirReaders.map((each) => each.lock(LEASE));
            const ourTurns = [1, 2, 3].map(() => ours(name).readLock().lock(LEASE));
            await Promise.all(theirReaders.map((each) => each.untilAsleep()));
            await untilHeard(interop, readWriteChannel(name), 2);
            const tookMs = await wakeUpMs(
              async () => (ourHold === undefined ? theirWriter.unlock() : ourHold.unlock()),
              Promise.all([...theirTurns, ...ourTurns]),
            );
            await expectNoWriterGetsIn(name);
            for (const each of theirReaders) await each.unlock();
            for (const turn of ourTurns) expect(await (await turn).unlock()).toBe(true);
            expect(await keysOf(interop, name)).toEqual([]);
            return tookMs;
          }),
      );

      it('Node downgrades: readers of Java get the lock, writers do not', () =>
        expectWokenByMessage(async () => {
          const name = makeName();
          const owner = interop.node.owner();
          const writing = await ours(name)
            .writeLock()
            .lock({ ...LEASE, owner });
          const reading = await ours(name)
            .readLock()
            .lock({ ...LEASE, owner });
          await expectNoReaderGetsIn(name);
          expect(await writer(name).isLocked()).toBe(true);
          expect(await reader(name).isLocked()).toBe(interop.habits.writersCountAsReaders);
          const theirs = [reader(name), reader(name)];
          const turns = theirs.map((each) => each.lock(LEASE));
          await Promise.all(theirs.map((each) => each.untilAsleep()));
          const tookMs = await wakeUpMs(() => writing.unlock(), Promise.all(turns));
          await expectNoWriterGetsIn(name);
          for (const each of theirs) await each.unlock();
          await expectNoWriterGetsIn(name);
          expect(await reading.unlock()).toBe(true);
          expect(await keysOf(interop, name)).toEqual([]);
          return tookMs;
        }));

      it('Java downgrades: readers of Node can get the lock, writers cannot', async () => {
        const name = makeName();
        const theirWriter = writer(name);
        const theirReader = reader(name, theirWriter.thread);
        await theirWriter.lock(LEASE);
        await theirReader.lock(LEASE);
        await expectNoReaderGetsIn(name);
        await theirWriter.unlock();
        const reading = await ours(name).readLock().tryLock(LEASE);
        expect(reading).not.toBeNull();
        await expectNoWriterGetsIn(name);
        expect(await reading?.unlock()).toBe(true);
        await expectNoWriterGetsIn(name);
        await theirReader.unlock();
        expect(await keysOf(interop, name)).toEqual([]);
      });
    });

    it('a reader that leaves does not affect other readers, even those that entered twice', async () => {
      const name = randomName('interop');
      const theirs = reader(name);
      const owner = interop.node.owner();
      await theirs.lock(LEASE);
      const first = await ours(name).readLock().lock({ owner, leaseMs: LEASE_MS });
      const second = await ours(name).readLock().lock({ owner, leaseMs: LEASE_MS });
      await theirs.lock(LEASE);
      expect(await theirs.holdCount()).toBe(2);
      expect(await ours(name).readLock().getHoldCount({ owner })).toBe(2);
      await theirs.unlock();
      await theirs.unlock();
      await expectNoWriterGetsIn(name);
      await theirs.lock(LEASE);
      expect(await second.unlock()).toBe(true);
      expect(await first.unlock()).toBe(true);
      await expectNoWriterGetsIn(name);
      expect(await interop.place.command(name, 'PTTL', name)).toBeGreaterThan(LEASE_MS / 2);
      await theirs.unlock();
      expect(await keysOf(interop, name)).toEqual([]);
    });

    it('a writer of Node that also read and stopped keeps its whole lease', async () => {
      const name = randomName('interop');
      const owner = interop.node.owner();
      const writing = await ours(name)
        .writeLock()
        .lock({ ...LEASE, owner });
      const reading = await ours(name).readLock().lock({ leaseMs: 1_000, owner });
      expect(await reading.unlock()).toBe(true);
      expect(await interop.place.command(name, 'PTTL', name)).toBeGreaterThan(LEASE_MS / 2);
      await expectNoReaderGetsIn(name);
      expect(await writing.unlock()).toBe(true);
    });

    it('is forced open only in its present mode, by either language', async () => {
      const name = randomName('interop');
      const reading = await ours(name).readLock().lock(LEASE);
      expect(await writer(name).forceUnlock()).toBe(false);
      expect(await reader(name).forceUnlock()).toBe(true);
      expect(await reading.unlock()).toBe(false);
      const writing = await ours(name).writeLock().lock(LEASE);
      expect(await reader(name).forceUnlock()).toBe(false);
      expect(await writer(name).forceUnlock()).toBe(true);
      expect(await writing.unlock()).toBe(false);
      const [theirReader, theirWriter] = [reader(name), writer(name)];
      await theirReader.lock(LEASE);
      expect(await ours(name).writeLock().forceUnlock()).toBe(false);
      expect(await ours(name).readLock().forceUnlock()).toBe(true);
      await expectGone(theirReader);
      await theirWriter.lock(LEASE);
      expect(await ours(name).readLock().forceUnlock()).toBe(false);
      expect(await ours(name).writeLock().forceUnlock()).toBe(true);
      await expectGone(theirWriter);
    });

    it('web locks of Node wait for a writer of Java', async () => {
      const name = randomName('interop');
      const theirs = writer(name);
      await theirs.lock(LEASE);
      const shared = interop.node.locks.request(name, { mode: 'shared' }, async () => 'inside');
      await untilHeard(interop, readWriteChannel(name));
      expect(await isPending(interop, shared, name)).toBe(true);
      await theirs.unlock();
      expect(await shared).toBe('inside');
    });
  });
}
