/** Work with a permit: `withPermit` of the permit-expirable semaphore. */
import { expect, it } from 'vitest';
import {
  AcquireTimeoutError,
  ClosedError,
  LeaseLostError,
  OptionError,
  type Permit,
} from '../../src/index.ts';
import { type Context, describeThrough } from './support/context.ts';
import { gate, rejection, timed, whenAborted } from './support/moments.ts';
import { javaReleases, leftMs, prepared, stored } from './support/permit-semaphore-by-hand.ts';
import { untilWaiting } from './support/semaphores.ts';

function describeWork(context: Context): void {
  it('never has more inside than there are permits, and as many as that', async () => {
    const { name, semaphore, raw } = await prepared(context, 3);
    const theirs = (await context.client()).getPermitExpirableSemaphore(name);
    let [inside, most] = [0, 0];
    const full = gate();
    const work = async (permit: Permit) => {
      permit.assertHeld();
      inside += 1;
      most = Math.max(most, inside);
      if (inside === 3) full.open();
      await full.opened;
      inside -= 1;
    };
    await Promise.all(
      Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? semaphore : theirs).withPermit(work)),
    );
    expect(most).toBe(3);
    expect(await stored(raw, name)).toEqual([3, 0]);
  });

  it('passes on what the work returns and throws, and gives back either way', async () => {
    const { raw, name, semaphore } = await prepared(context, 2);
    expect(await semaphore.withPermit(() => stored(raw, name))).toEqual([1, 1]);
    const why = new Error('of the work');
    const failing = () => {
      throw why;
    };
    expect(await rejection(semaphore.withPermit(failing))).toBe(why);
    expect(await rejection(semaphore.withPermit(async () => failing()))).toBe(why);
    expect(await semaphore.withPermit((permit) => permit.release())).toBe(true);
    expect(await stored(raw, name)).toEqual([2, 0]);
  });

  it('takes the permit for the given lease', async () => {
    const { raw, name, semaphore } = await prepared(context, 1);
    const left = await semaphore.withPermit(({ id }) => leftMs(raw, name, id), { leaseMs: 5_000 });
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(5_000);
  });

  it('rejects with AcquireTimeoutError after waitMs', async () => {
    const { raw, name, semaphore } = await prepared(context, 1);
    const inside = gate();
    const busy = semaphore.withPermit(() => inside.opened);
    const waiting = () => rejection(semaphore.withPermit(() => expect.unreachable(), { waitMs: 100 }));
    const { result, tookMs } = await timed(waiting);
    expect(result).toBeInstanceOf(AcquireTimeoutError);
    expect(tookMs).toBeGreaterThanOrEqual(98);
    inside.open();
    await busy;
    expect(await stored(raw, name)).toEqual([1, 0]);
  });

  it('stops waiting when aborted, and when the client closes', async () => {
    const { client, raw, name, semaphore } = await prepared(context, 0);
    const giveUp = new AbortController();
    const aborted = semaphore.withPermit(() => expect.unreachable(), { signal: giveUp.signal });
    const closed = semaphore.withPermit(() => expect.unreachable());
    await untilWaiting(raw, name);
    const why = new Error('changed my mind');
    giveUp.abort(why);
    expect(await rejection(aborted)).toBe(why);
    const closing = client.close();
    expect(await rejection(closed)).toBeInstanceOf(ClosedError);
    await closing;
    expect(await stored(raw, name)).toEqual([0, 0]);
  });

  it('aborts the signal of a lost permit, and rejects though the work resolves', async () => {
    const { raw, name, semaphore } = await prepared(context, 1, { watchdogMs: 3_000 });
    const reasons: unknown[] = [];
    const error = await rejection(
      semaphore.withPermit(async ({ id, signal }) => {
        await javaReleases(raw, name, id);
        reasons.push(await whenAborted(signal));
        return 'done';
      }),
    );
    expect(error).toBeInstanceOf(LeaseLostError);
    expect(error).toMatchObject({ reason: 'notOwner' });
    expect(reasons).toEqual([error]);
    expect(await stored(raw, name)).toEqual([1, 0]);
  });

  it('rejects where only the release finds the permit gone, and passes on an error of the work all the same', async () => {
    const { raw, name, semaphore } = await prepared(context, 1);
    const lost = await rejection(semaphore.withPermit(({ id }) => javaReleases(raw, name, id)));
    expect(lost).toBeInstanceOf(LeaseLostError);
    const why = new Error('of the work');
    const failing = semaphore.withPermit(async ({ id }) => {
      await javaReleases(raw, name, id);
      throw why;
    });
    expect(await rejection(failing)).toBe(why);
    expect(await stored(raw, name)).toEqual([1, 0]);
  });

  it('gives back when the client closes, tells the work, and rejects when it is done', async () => {
    const { client, raw, name, semaphore } = await prepared(context, 1);
    const [entered, finish] = [gate(), gate()];
    const work = semaphore.withPermit(async ({ signal }) => {
      entered.open();
      await finish.opened;
      return signal.reason;
    });
    await entered.opened;
    await client.close();
    expect(await stored(raw, name)).toEqual([1, 0]);
    finish.open();
    expect(await rejection(work)).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'closed' });
  });

  it('refuses what is unknown or out of range before anything is taken', async () => {
    const { raw, name, semaphore } = await prepared(context, 1);
    const never = () => expect.unreachable();
    const calls = [
      semaphore.withPermit(undefined as never),
      semaphore.withPermit(never, { waitMs: -1 }),
      semaphore.withPermit(never, { leaseMs: 0 }),
      // It would outlive the work if the client were closed.
      semaphore.withPermit(never, { leaseMs: Number.POSITIVE_INFINITY }),
      semaphore.withPermit(never, { signal: 'no' as never }),
      semaphore.withPermit(never, { permits: 2 } as object),
    ];
    for (const call of calls) expect(await rejection(call)).toBeInstanceOf(OptionError);
    expect(await stored(raw, name)).toEqual([1, 0]);
  });
}

describeThrough('work with a permit', describeWork);
