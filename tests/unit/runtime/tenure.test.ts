/** One owner's possession of one lock: entries, deadline, loss and release. */
import { describe, expect, it } from 'vitest';
import { LeaseLostError, OutcomeUnknownError } from '../../../src/errors.ts';
import { Bench, HandDrivenProtocol, NotingEntry, NotingRenewal } from '../support/bench.ts';
import { defer, refusal, reset, unreachable, watchPromise } from '../support/deferred.ts';

function setUp(settings: { watchdogMs?: number; commandTimeoutMs?: number } = {}) {
  const bench = new Bench(settings);
  const renewal = new NotingRenewal(bench.clock);
  const lock = new HandDrivenProtocol('a', renewal);
  return { bench, clock: bench.clock, lock, renewal, reports: bench.reports };
}

describe('the deadline', () => {
  it('aborts the signal before the lease can end on the server', async () => {
    for (const leaseMs of [100, 1_000, 30_000, 3_600_000]) {
      const { bench, clock, lock } = setUp();
      const startedAt = clock.now();
      const { entry } = bench.hold(lock, { renewed: false, leaseMs });
      entry.onLost = (error) => {
        entry.losses.push(error);
        expect(clock.now()).toBeLessThan(startedAt + leaseMs);
        expect(startedAt + leaseMs - clock.now()).toBeGreaterThanOrEqual(Math.min(50, leaseMs / 2));
      };
      await clock.advance(leaseMs);
      expect(entry.reasons).toEqual(['expired']);
    }
  });

  it('is noticed by a caller that asks, before any timer could run', () => {
    const { bench, clock, lock } = setUp();
    const { entry, tenure } = bench.hold(lock);
    clock.jump(28_000);
    tenure.assertHeld();
    expect(tenure.remainingMs).toBeGreaterThan(0);
    clock.jump(1_000);
    expect(tenure.remainingMs).toBe(0);
    expect(() => tenure.assertHeld()).toThrow(LeaseLostError);
    expect(entry.reasons).toEqual(['expired']);
  });

  it('is reported once, to every entry', async () => {
    const { bench, clock, lock, reports } = setUp();
    const { entry, tenure } = bench.hold(lock, { renewed: false, leaseMs: 10_000 });
    const second = new NotingEntry(false);
    await tenure.enter(second, 10_000);
    clock.jump(20_000);
    tenure.checkDeadline();
    tenure.lose('forced');
    await clock.advance(20_000);
    expect(entry.reasons).toEqual(['expired']);
    expect(second.reasons).toEqual(['expired']);
    expect(reports.of('lost')).toHaveLength(1);
  });

  it('moves with extensions, and never back', () => {
    const { bench, clock, lock } = setUp();
    const { tenure } = bench.hold(lock, { renewed: false, leaseMs: 60_000 });
    const before = tenure.remainingMs;
    tenure.prolonged(clock.now(), 10_000);
    expect(tenure.remainingMs).toBe(before);
    tenure.prolonged(clock.now(), 120_000);
    expect(tenure.remainingMs).toBeGreaterThan(110_000);
  });

  it('a loss makes waiters of this process attempt', async () => {
    const { bench, clock, lock } = setUp();
    const { tenure } = bench.hold(lock);
    const line = bench.runtime.lines.at(lock.line);
    line.join({ next: undefined, previous: undefined, proceed() {}, receive: () => false });
    line.attempting();
    line.lookAgainIn(60_000);
    tenure.lose('notOwner');
    expect(line.isDue).toBe(true);
    await clock.advance(0);
  });
});

describe('entering again', () => {
  it('sends the new count, and lengthens the lease', async () => {
    const { bench, clock, lock } = setUp();
    const { tenure } = bench.hold(lock);
    expect(await tenure.enter(new NotingEntry(true), 60_000)).toBe(true);
    expect(await tenure.enter(new NotingEntry(true), 1_000)).toBe(true);
    expect(lock.calls).toEqual(['enter 2 60000', 'enter 3 1000']);
    expect(tenure.count).toBe(3);
    expect(tenure.remainingMs).toBeGreaterThan(55_000);
    await clock.advance(0);
  });

  it('repeats the same count after a lost reply', async () => {
    const { bench, clock, lock } = setUp();
    const { tenure } = bench.hold(lock);
    const succeed = lock.answers.enter;
    lock.answers.enter = () => {
      lock.answers.enter = succeed;
      return Promise.reject(reset());
    };
    const entering = tenure.enter(new NotingEntry(true), 1_000);
    await clock.advance(100);
    expect(await entering).toBe(true);
    expect(lock.calls).toEqual(['enter 2 1000', 'enter 2 1000']);
    expect(tenure.count).toBe(2);
  });

  it('a lost hold fails without a request, and is not taken again', async () => {
    const { bench, lock } = setUp();
    const { tenure } = bench.hold(lock);
    tenure.lose('notOwner');
    await expect(tenure.enter(new NotingEntry(true), 1_000)).rejects.toThrow(LeaseLostError);
    expect(lock.calls).toEqual([]);
  });

  it('a hold that the server no longer has is a loss for every entry', async () => {
    const { bench, lock, reports } = setUp();
    const { entry, tenure } = bench.hold(lock);
    lock.answers.enter = async () => 'lost';
    const second = new NotingEntry(true);
    await expect(tenure.enter(second, 1_000)).rejects.toThrow(LeaseLostError);
    expect(entry.reasons).toEqual(['notOwner']);
    expect(second.reasons).toEqual([]);
    expect(reports.of('lost')).toHaveLength(1);
  });

  it('without an answer leaves the hold as it was', async () => {
    const { bench, clock, lock } = setUp();
    const { tenure } = bench.hold(lock);
    lock.answers.enter = () => Promise.reject(reset());
    const entering = watchPromise(tenure.enter(new NotingEntry(true), 1_000));
    await clock.advance(3_000);
    expect(entering.error).toBeInstanceOf(OutcomeUnknownError);
    expect(tenure.isHeld).toBe(true);
    expect(tenure.count).toBe(1);
  });

  it('while the other entry leaves: the requests keep their order, and nothing is released meanwhile', async () => {
    const { bench, clock, lock } = setUp();
    const first = bench.hold(lock);
    const answer = defer<'held' | 'lost'>();
    lock.answers.enter = () => answer.promise;
    const second = new NotingEntry(true);
    const entering = watchPromise(first.tenure.enter(second, 30_000));
    await clock.advance(0);
    const leaving = watchPromise(first.tenure.leave(first.entry));
    await clock.advance(0);
    expect(lock.calls).toEqual(['enter 2 30000']);
    answer.resolve('held');
    await clock.advance(0);
    expect(entering.value).toBe(true);
    expect(leaving.value).toBe(true);
    expect(lock.calls).toEqual(['enter 2 30000', 'leave 1']);
    first.tenure.assertHeld();
    expect(first.tenure.isHeld).toBe(true);
    expect(first.isOver).toBe(false);

    await clock.advance(120_000);
    expect(second.reasons).toEqual([]);
    expect(await first.tenure.leave(second)).toBe(true);
    expect(lock.calls.at(-1)).toBe('release 6000');
    expect(first.isOver).toBe(true);
  });

  it('after the other entry left finds nothing to enter, and sends nothing', async () => {
    const { bench, clock, lock } = setUp();
    const first = bench.hold(lock);
    const leaving = watchPromise(first.tenure.leave(first.entry));
    const entering = watchPromise(first.tenure.enter(new NotingEntry(true), 30_000));
    await clock.advance(0);
    expect(leaving.value).toBe(true);
    expect(entering).toEqual({ state: 'resolved', value: false });
    expect(lock.calls).toEqual(['release 6000']);
  });

  it('is renewed while an entry without leaseMs lasts, and only then', async () => {
    const { bench, clock, lock, renewal } = setUp();
    const { tenure } = bench.hold(lock, { renewed: false, leaseMs: 100_000 });
    const second = new NotingEntry(true);
    await tenure.enter(second, 30_000);
    await clock.advance(25_000);
    expect(renewal.calls.map(({ counts }) => counts)).toEqual([[2], [2]]);
    await tenure.leave(second);
    await clock.advance(60_000);
    expect(renewal.calls).toHaveLength(2);
  });
});

describe('leaving', () => {
  it('releases with the last entry only', async () => {
    const { bench, lock } = setUp();
    const hold = bench.hold(lock);
    const [second, third] = [new NotingEntry(true), new NotingEntry(true)];
    await hold.tenure.enter(second, 1_000);
    await hold.tenure.enter(third, 1_000);
    lock.calls.length = 0;
    expect(await hold.tenure.leave(second)).toBe(true);
    expect(await hold.tenure.leave(hold.entry)).toBe(true);
    expect(hold.isOver).toBe(false);
    expect(await hold.tenure.leave(third)).toBe(true);
    expect(hold.isOver).toBe(true);
    expect(lock.calls).toEqual(['leave 2', 'leave 1', 'release 6000']);
    expect(bench.runtime.tenures.isEmpty).toBe(true);
  });

  it('of all entries at once is one release, and no count of 0 is ever written', async () => {
    const { bench, lock } = setUp();
    const { entry, tenure } = bench.hold(lock);
    const second = new NotingEntry(true);
    await tenure.enter(second, 1_000);
    lock.calls.length = 0;
    expect(await Promise.all([tenure.leave(entry), tenure.leave(second)])).toEqual([true, true]);
    expect(lock.calls).not.toContain('leave 0');
    expect(lock.calls.filter((call) => call.startsWith('release'))).toEqual(['release 6000']);
  });

  it('sends requests in order, though an earlier answer is slow', async () => {
    const { bench, clock, lock } = setUp();
    const { entry, tenure } = bench.hold(lock);
    const second = new NotingEntry(true);
    await tenure.enter(second, 1_000);
    lock.calls.length = 0;
    const answer = defer<'held' | 'lost'>();
    lock.answers.leave = () => answer.promise;
    void tenure.leave(second);
    await clock.advance(0);
    const last = watchPromise(tenure.leave(entry));
    await clock.advance(1_000);
    expect(lock.calls).toEqual(['leave 1']);
    answer.resolve('held');
    await clock.advance(0);
    expect(lock.calls).toEqual(['leave 1', 'release 6000']);
    expect(last.value).toBe(true);
  });

  it('a hold that the server no longer has answers false and is reported', async () => {
    const { bench, lock, reports } = setUp();
    const { entry, tenure } = bench.hold(lock);
    lock.answers.release = async () => 'lost';
    expect(await tenure.leave(entry)).toBe(false);
    expect(reports.of('lost')).toEqual([{ kind: 'lock', name: 'a', owner: 'c:a', reason: 'notOwner' }]);
  });

  it('one of several entries: a hold that the server no longer has is a loss for the others', async () => {
    const { bench, lock } = setUp();
    const { entry, tenure } = bench.hold(lock);
    const second = new NotingEntry(true);
    await tenure.enter(second, 1_000);
    lock.answers.leave = async () => 'lost';
    expect(await tenure.leave(second)).toBe(false);
    expect(entry.reasons).toEqual(['notOwner']);
  });

  it('a lost hold answers false, and is released on the server in the background', async () => {
    const { bench, clock, lock } = setUp();
    const hold = bench.hold(lock, { renewed: false, leaseMs: 10_000 });
    await clock.advance(10_000);
    expect(hold.isOver).toBe(false);
    expect(await hold.tenure.leave(hold.entry)).toBe(false);
    expect(hold.isOver).toBe(true);
    await clock.advance(0);
    expect(lock.calls).toEqual(['release 70000']);
  });

  it('past an unnoticed deadline answers false', async () => {
    const { bench, clock, lock } = setUp();
    const { entry, tenure } = bench.hold(lock);
    clock.jump(29_000);
    expect(await tenure.leave(entry)).toBe(false);
  });

  it('without an answer rejects in time, and continues in the background until there is one', async () => {
    const { bench, clock, lock } = setUp();
    const { entry, tenure } = bench.hold(lock);
    lock.answers.release = () => Promise.reject(reset());
    const leaving = watchPromise(tenure.leave(entry));
    await clock.advance(3_000);
    expect(leaving.error).toBeInstanceOf(OutcomeUnknownError);
    await clock.advance(10_000);
    lock.answers.release = async () => 'released';
    const before = lock.calls.length;
    await clock.advance(60_000);
    expect(lock.calls.length).toBe(before + 1);
    expect(lock.calls.at(-1)).toBe('release 90000');
  });

  it('is remembered beyond the lease if an attempt of the owner may still be in flight', async () => {
    const { bench, lock } = setUp();
    const known = bench.hold(lock);
    await known.tenure.leave(known.entry);
    const doubtful = bench.hold(lock, { doubtful: true });
    await doubtful.tenure.leave(doubtful.entry);
    expect(lock.calls).toEqual(['release 6000', 'release 90000']);
  });

  it('with the longest time-out: sent times stay safe integers', async () => {
    const { bench, lock } = setUp({ commandTimeoutMs: Number.MAX_SAFE_INTEGER });
    const { entry, tenure } = bench.hold(lock);
    await tenure.leave(entry);
    expect(Number(lock.calls[0]?.split(' ')[1])).toSatisfy(Number.isSafeInteger);
  });

  it('with a refusal rejects at once', async () => {
    const { bench, lock } = setUp();
    const { entry, tenure } = bench.hold(lock);
    lock.answers.release = () => Promise.reject(refusal());
    await expect(tenure.leave(entry)).rejects.toMatchObject({ code: 'ERR_DRIVER' });
  });

  it('makes waiters of this process attempt, once the server has answered', async () => {
    const { bench, clock, lock } = setUp();
    const { entry, tenure } = bench.hold(lock);
    const line = bench.runtime.lines.at(lock.line);
    line.join({ next: undefined, previous: undefined, proceed() {}, receive: () => false });
    line.attempting();
    line.lookAgainIn(60_000);
    const answer = defer<'released' | 'lost'>();
    lock.answers.release = () => answer.promise;
    const leaving = tenure.leave(entry);
    await clock.advance(0);
    expect(line.isDue).toBe(false);
    answer.resolve('released');
    await leaving;
    expect(line.isDue).toBe(true);
  });
});

describe('losing', () => {
  it('without a renewal releases in the background, but not before the lease has ended', async () => {
    const { bench, clock, lock, renewal } = setUp();
    renewal.answer = () => Promise.reject(unreachable());
    const { entry } = bench.hold(lock);
    await clock.advance(29_999);
    expect(entry.reasons).toEqual(['unreachable']);
    expect(lock.calls).toEqual([]);
    await clock.advance(1);
    expect(lock.calls).toEqual(['release 90000']);
  });

  it('on purpose aborts the signal first, then releases on the server', async () => {
    const { bench, clock, lock } = setUp();
    const { entry, tenure } = bench.hold(lock);
    entry.onLost = (error) => {
      expect(lock.calls).toEqual([]);
      entry.losses.push(error);
    };
    tenure.revoke('maxHold');
    await clock.advance(0);
    expect(entry.reasons).toEqual(['maxHold']);
    expect(lock.calls).toEqual(['release 90000']);
  });

  it('stays lost, whatever the server says later', async () => {
    const { bench, clock, lock } = setUp();
    const { tenure } = bench.hold(lock);
    tenure.lose('forced');
    tenure.prolonged(clock.now(), 60_000);
    expect(tenure.isHeld).toBe(false);
    expect(tenure.remainingMs).toBe(0);
    expect(() => tenure.assertHeld()).toThrow(/released by force/);
    await clock.advance(0);
    expect(lock.calls).toEqual(['release 120000']);
  });

  it('of the longest lease can be undone: sent times stay safe integers', async () => {
    const { bench, clock, lock } = setUp();
    const { tenure } = bench.hold(lock, { renewed: false, leaseMs: Number.MAX_SAFE_INTEGER });
    tenure.revoke('maxHold');
    await clock.advance(0);
    expect(lock.calls).toHaveLength(1);
    expect(lock.calls[0]).toMatch(/^release \d+$/);
    expect(Number(lock.calls[0]?.split(' ')[1])).toSatisfy(Number.isSafeInteger);
  });

  it('leaves no timer behind', async () => {
    const { bench, clock, lock } = setUp();
    const { tenure } = bench.hold(lock);
    tenure.lose('forced');
    await clock.advance(2_000);
    expect(clock.pendingTimers).toBe(0);
    expect(bench.runtime.tenures.isEmpty).toBe(true);
  });
});

describe('extending', () => {
  it('gives at least that much time', async () => {
    const { bench, clock, lock, renewal } = setUp();
    const { tenure } = bench.hold(lock, { renewed: false, leaseMs: 10_000 });
    await tenure.extend(60_000);
    expect(renewal.calls).toMatchObject([{ keys: ['a'], owners: ['c:a'], counts: [1], leaseMs: 60_000 }]);
    await clock.advance(50_000);
    expect(tenure.isHeld).toBe(true);
  });

  it('moves the deadline, to the millisecond', async () => {
    const { bench, clock, lock } = setUp();
    const { entry, tenure } = bench.hold(lock, { renewed: false, leaseMs: 10_000 });
    await clock.advance(5_000);
    await tenure.extend(60_000);
    await clock.advance(Math.ceil(tenure.remainingMs) - 1);
    expect(entry.reasons).toEqual([]);
    await clock.advance(1);
    expect(entry.reasons).toEqual(['expired']);
  });

  it('a hold that the server no longer has is a loss', async () => {
    const { bench, lock, renewal } = setUp();
    const { entry, tenure } = bench.hold(lock);
    renewal.answer = async () => [0];
    await expect(tenure.extend(60_000)).rejects.toThrow(LeaseLostError);
    expect(entry.reasons).toEqual(['notOwner']);
  });

  it('a lost hold fails without a request', async () => {
    const { bench, lock, renewal } = setUp();
    const { tenure } = bench.hold(lock);
    tenure.lose('closed');
    await expect(tenure.extend(60_000)).rejects.toThrow(LeaseLostError);
    expect(renewal.calls).toEqual([]);
  });
});

describe('closing the runtime', () => {
  it('aborts signals, releases holds, rejects waiters, and ends within one time-out', async () => {
    const { bench, clock, lock } = setUp();
    const { entry } = bench.hold(lock);
    const waitBudget = bench.runtime.waitBudget(60_000, undefined);
    const waiting = watchPromise(waitBudget.wait(new Promise(() => {})));
    lock.answers.release = () => Promise.reject(reset());
    const closing = watchPromise(bench.runtime.close());
    expect(entry.reasons).toEqual(['closed']);
    await clock.advance(2_999);
    expect(waiting.error).toMatchObject({ code: 'ERR_CLOSED' });
    expect(closing.state).toBe('pending');
    expect(lock.calls.length).toBeGreaterThan(1);
    await clock.advance(1);
    expect(closing.state).toBe('resolved');
    expect(bench.driver.isClosed).toBe(true);
    expect(() => bench.runtime.assertOpen()).toThrow(/closed/);
  });

  it('does not wait when everything is answered', async () => {
    const { bench, clock, lock } = setUp();
    bench.hold(lock);
    await bench.runtime.close();
    expect(lock.calls).toEqual(['release 90000']);
    expect(clock.pendingTimers).toBe(0);
  });
});
