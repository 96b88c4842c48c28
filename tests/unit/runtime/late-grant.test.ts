/** Grants that come too late, and leases that may stand on the server though nobody relies on them. */
import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../../../src/errors.ts';
import { assertInTime, deadlineOf } from '../../../src/runtime/lease-deadline.ts';
import type { TenureProtocol } from '../../../src/runtime/protocol.ts';
import { Bench, HandDrivenProtocol, NotingEntry, NotingRenewal } from '../support/bench.ts';
import { reset, watchPromise } from '../support/deferred.ts';
import { GuardedProtocol } from '../support/guarded.ts';

function setUp() {
  const bench = new Bench();
  const renewal = new NotingRenewal(bench.clock);
  const lock = new HandDrivenProtocol('a', renewal);
  return { bench, clock: bench.clock, lock, renewal };
}

/** How a grant is judged that was asked for at the beginning and becomes a hold now. */
function judge(bench: Bench, protocol: TenureProtocol, leaseMs: number): unknown {
  try {
    assertInTime(bench.runtime, protocol, { owner: 'c:a', sentAt: 1_000, leaseMs });
    return 'in time';
  } catch (error) {
    return error;
  }
}

describe('a grant', () => {
  it('is in time until its deadline, and late from then on', () => {
    const { bench, clock, lock } = setUp();
    clock.jump(deadlineOf(0, 10_000) - 1);
    expect(judge(bench, lock, 10_000)).toBe('in time');
    clock.jump(1);
    const error = judge(bench, lock, 10_000);
    expect(error).toBeInstanceOf(LeaseLostError);
    expect(error).toMatchObject({ reason: 'expired', lockName: 'a', owner: 'c:a' });
    expect((error as Error).message).toContain(
      'the answer took 9398 ms, and a lease of 10000 ms is reliable for only 9398 ms',
    );
  });

  it('is late after a suspension that the lease did not outlast', () => {
    const { bench, clock, lock } = setUp();
    clock.suspend(60_000);
    expect(judge(bench, lock, 10_000)).toMatchObject({ reason: 'suspended' });
  });

  it('is late when the grace of the guard has ended, however long the lease', () => {
    const { bench, clock, renewal } = setUp();
    clock.jump(30_000);
    expect(judge(bench, new GuardedProtocol('a', renewal, 60_000), 600_000)).toBe('in time');
    expect(judge(bench, new GuardedProtocol('a', renewal, 30_000), 600_000)).toMatchObject({
      reason: 'expired',
    });
  });

  it('without an end is never late', () => {
    const { bench, clock, lock } = setUp();
    clock.jump(1e12);
    expect(judge(bench, lock, Number.POSITIVE_INFINITY)).toBe('in time');
  });
});

describe('a lease that the server may have granted without an answer', () => {
  it('by extend: is released when the known lease ends, and not before', async () => {
    const { bench, clock, lock, renewal } = setUp();
    const { entry, tenure } = bench.hold(lock, { renewed: false, leaseMs: 10_000 });
    renewal.answer = () => Promise.reject(reset());
    const extending = watchPromise(tenure.extend(60_000));
    await clock.advance(9_999);
    expect(extending.error).toMatchObject({ code: 'ERR_OUTCOME_UNKNOWN' });
    expect(entry.reasons).toEqual(['expired']);
    expect(lock.calls).toEqual([]);
    await clock.advance(1);
    expect(lock.calls).toEqual(['release 120000']);
  });

  it('by a renewal whose entry has left: is released when the remaining lease ends', async () => {
    const { bench, clock, lock, renewal } = setUp();
    const { entry, tenure } = bench.hold(lock, { renewed: false, leaseMs: 35_000 });
    const renewed = new NotingEntry(true);
    await tenure.enter(renewed, 30_000);
    renewal.answer = () => new Promise(() => {});
    await clock.advance(10_000);
    expect(await tenure.leave(renewed)).toBe(true);
    lock.calls.length = 0;
    await clock.advance(25_000);
    expect(entry.reasons).toEqual(['expired']);
    expect(lock.calls).toEqual(['release 95000']);
  });

  it('by a renewal in flight when the machine is suspended: is released', async () => {
    const { bench, clock, lock, renewal } = setUp();
    renewal.answer = () => new Promise(() => {});
    const { entry } = bench.hold(lock);
    await clock.advance(10_000);
    clock.suspend(25_000);
    await clock.advance(1_000);
    expect(entry.reasons).toEqual(['suspended']);
    expect(lock.calls).toEqual(['release 90000']);
  });

  it('and confirmed afterwards: nothing is released when it ends', async () => {
    const { bench, clock, lock, renewal } = setUp();
    const { entry, tenure } = bench.hold(lock, { renewed: false, leaseMs: 10_000 });
    const answer = renewal.answer;
    renewal.answer = () => {
      renewal.answer = answer;
      return Promise.reject(reset());
    };
    const extending = watchPromise(tenure.extend(20_000));
    await clock.advance(30_000);
    expect(extending.state).toBe('resolved');
    expect(entry.reasons).toEqual(['expired']);
    expect(lock.calls).toEqual([]);
  });
});
