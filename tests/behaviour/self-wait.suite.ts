/** A section that waits for a lock that it holds itself, as another owner: it is told at once. */
import { expect, it } from 'vitest';
import { DeadlockError } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { describeThrough } from './support/context.ts';
import { rejection, warningsOf } from './support/moments.ts';

describeThrough('a section that waits for itself', (context) => {
  it('is refused a wait without a limit as another owner, at once, with both in the message', async () => {
    const client = await context.client();
    const lock = client.getLock(randomName());
    const other = client.owner();
    await lock.withLock(async (hold) => {
      const error = await rejection(lock.lock({ owner: other }));
      expect(error).toBeInstanceOf(DeadlockError);
      expect(error).toMatchObject({ code: 'ERR_DEADLOCK', lockName: lock.name, holder: hold.owner });
      expect((error as Error).message).toContain(`another owner of client ${client.id}`);
      // By its own owner, it re-enters.
      await (await lock.lock()).unlock();
      expect(await lock.getHoldCount()).toBe(1);
    });
    await (await lock.lock({ owner: other })).unlock();
  });

  it('is refused that for every kind on the same key, and in a scope', async () => {
    const client = await context.client();
    const [name, both] = [randomName(), randomName()];
    const owner = client.owner();
    await client.scope(async () => {
      const hold = await client.getLock(name).lock();
      for (const lock of [client.getFairLock(name), client.getNonReentrantLock(name)]) {
        expect(await rejection(lock.lock({ owner }))).toBeInstanceOf(DeadlockError);
      }
      await hold.unlock();
      const { readLock, writeLock } = {
        readLock: client.getReadWriteLock(both).readLock(),
        writeLock: client.getReadWriteLock(both).writeLock(),
      };
      const writing = await writeLock.lock();
      expect(await rejection(readLock.lock({ owner }))).toBeInstanceOf(DeadlockError);
      await writing.unlock();
      const reading = await readLock.lock();
      expect(await rejection(writeLock.lock({ owner }))).toBeInstanceOf(DeadlockError);
      await (await readLock.lock({ owner })).unlock();
      await reading.unlock();
    });
  });

  it('is warned where the wait ends by itself, and not where it tries once', async () => {
    const client = await context.client();
    const warnings = warningsOf(client);
    const lock = client.getLock(randomName());
    const owner = client.owner();
    await lock.withLock(async (hold) => {
      expect(await lock.tryLock({ owner })).toBeNull();
      expect(warnings).toEqual([]);
      expect(await lock.tryLock({ owner, waitMs: 30 })).toBeNull();
      expect(warnings).toMatchObject([{ code: 'HOLDFAST_SELF_WAIT' }]);
      expect(warnings[0]?.message).toContain(hold.owner);
      const given = new AbortController();
      const waiting = lock.lock({ owner, signal: given.signal });
      given.abort(new Error('enough'));
      expect(await rejection(waiting)).toMatchObject({ message: 'enough' });
      expect(warnings).toHaveLength(2);
    });
  });

  it('is warned when another client of the process waits for it, which may be meant', async () => {
    const [ours, theirs] = [await context.client(), await context.client()];
    const warnings = warningsOf(theirs);
    const name = randomName();
    let waiting: Promise<unknown> = Promise.resolve();
    await ours.getLock(name).withLock(async (hold) => {
      waiting = theirs.getLock(name).withLock(() => 'after it');
      await eventually(() => expect(warnings).toMatchObject([{ code: 'HOLDFAST_SELF_WAIT' }]));
      expect(warnings[0]?.message).toContain(hold.owner);
      expect(warnings[0]?.message).toContain(theirs.id);
    });
    expect(await waiting).toBe('after it');
  });

  it('is not said of another lock, of code outside, or of what started inside and outlived it', async () => {
    const [ours, theirs] = [await context.client(), await context.client()];
    const heard = [warningsOf(ours), warningsOf(theirs)];
    const name = randomName();
    const owner = ours.owner();
    let later: Promise<unknown> = Promise.resolve();
    let go = () => {};
    const ended = new Promise<void>((resolve) => {
      go = resolve;
    });
    await ours.getLock(name).withLock(async () => {
      await theirs.getLock(`${name}:other`).withLock(() => 1);
      await (await ours.getLock(`${name}:other`).lock({ owner })).unlock();
      later = ended.then(() => ours.getLock(name).lock({ owner }));
    });
    const hold = await ours.getLock(name).lock();
    go();
    await hold.unlock();
    await ((await later) as typeof hold).unlock();
    expect(heard).toEqual([[], []]);
  });
});
