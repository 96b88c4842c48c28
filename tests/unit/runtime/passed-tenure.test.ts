/** A tenure that goes from one waiter of this process to the next: when it does, for how long, and who is told what. */
import { describe, expect, it } from 'vitest';
import { OutcomeUnknownError } from '../../../src/errors.ts';
import type { Waiter } from '../../../src/runtime/line.ts';
import type { Tenure } from '../../../src/runtime/tenure.ts';
import { Bench, HandDrivenProtocol, NotingEntry, NotingRenewal } from '../support/bench.ts';
import { defer, reset, unreachable, watchPromise } from '../support/deferred.ts';
import { GuardedProtocol } from '../support/guarded.ts';

/** One that takes what it is handed. */
class NextWaiter implements Waiter {
  next: Waiter | undefined;
  previous: Waiter | undefined;
  readonly entry = new NotingEntry(true);
  isOver = false;

  proceed(): void {}

  receive(tenure: Tenure): boolean {
    tenure.passTo(this.entry, () => {
      this.isOver = true;
    });
    return true;
  }
}

const UNHURRIED = { maxMs: 1_000_000, maxHolds: 1_000_000 };

function setUp(passOn = UNHURRIED) {
  const bench = new Bench({ passOn });
  const renewal = new NotingRenewal(bench.clock);
  const passed = { canPassOn: true };
  const lock = Object.assign(new HandDrivenProtocol('a', renewal), passed);
  const guardedLock = Object.assign(new GuardedProtocol('a', renewal), passed);
  /** Somebody who waits in this process, at the head of the line. */
  const waits = () => {
    const waiter = new NextWaiter();
    const line = bench.runtime.lines.at(lock.line);
    line.join(waiter);
    return { waiter, line };
  };
  return { bench, clock: bench.clock, renewal, lock, guardedLock, reports: bench.reports, waits };
}

/** Has one after the other take it and leave, until it is really released; answers how often it was passed on. */
async function passUntilReleased(
  { bench, clock, lock, waits }: ReturnType<typeof setUp>,
  betweenMs = 0,
): Promise<number> {
  const { tenure, entry } = bench.hold(lock);
  for (let [holder, passed] = [entry, 0]; ; passed += 1) {
    await clock.advance(betweenMs);
    const { waiter, line } = waits();
    const leaving = tenure.leave(holder);
    line.leave(waiter);
    expect(await leaving).toBe(true);
    if (tenure.count === 0) return passed;
    holder = waiter.entry;
  }
}

describe('a tenure is passed on', () => {
  it('to a waiter of this process, without a request to the server', async () => {
    const { bench, lock, reports, waits } = setUp();
    const first = bench.hold(lock);
    const { waiter } = waits();
    expect(await first.tenure.leave(first.entry)).toBe(true);
    expect([first.isOver, waiter.isOver]).toEqual([true, false]);
    expect(first.tenure.count).toBe(1);
    expect(first.tenure.isHeld).toBe(true);
    expect(lock.calls).toEqual([]);
    expect(reports.all).toEqual([]);
  });

  it('at most maxHolds times, then released', async () => {
    for (const maxHolds of [1, 2, 5]) {
      const set = setUp({ ...UNHURRIED, maxHolds });
      expect(await passUntilReleased(set)).toBe(maxHolds - 1);
      expect(set.lock.calls).toHaveLength(1);
    }
  });

  it('for at most maxMs from its grant, then released', async () => {
    const set = setUp({ ...UNHURRIED, maxMs: 10 });
    expect(await passUntilReleased(set, 3)).toBe(3);
    expect(set.lock.calls).toHaveLength(1);
  });

  it('with its renewals and its deadline', async () => {
    const { bench, clock, lock, renewal, waits } = setUp();
    const { tenure, entry } = bench.hold(lock);
    await clock.advance(5_000);
    const left = tenure.remainingMs;
    waits();
    await tenure.leave(entry);
    expect(tenure.remainingMs).toBe(left);
    await clock.advance(5_001);
    expect(renewal.calls).toHaveLength(1);
    expect(tenure.remainingMs).toBeGreaterThan(left);
  });
});

describe('the loss of a tenure that was passed on', () => {
  it('aborts the signal of the present holder only', async () => {
    const { bench, clock, lock, renewal, reports, waits } = setUp();
    const { tenure, entry } = bench.hold(lock);
    const { waiter } = waits();
    await tenure.leave(entry);
    renewal.answer = async (keys) => keys.map(() => 0);
    await clock.advance(10_500);
    expect(waiter.entry.reasons).toEqual(['notOwner']);
    expect(entry.reasons).toEqual([]);
    expect(await tenure.leave(waiter.entry)).toBe(false);
    expect(waiter.isOver).toBe(true);
    expect(reports.of('lost')).toHaveLength(1);
  });

  it('aborts the signal at the deadline when no renewal is answered', async () => {
    const { bench, clock, lock, renewal, waits } = setUp();
    const { tenure, entry } = bench.hold(lock);
    const { waiter } = waits();
    await clock.advance(5_000);
    await tenure.leave(entry);
    renewal.answer = () => Promise.reject(unreachable());
    await clock.advance(25_000);
    expect(waiter.entry.reasons).toEqual(['unreachable']);
    expect(entry.reasons).toEqual([]);
  });

  it('prevents further passing on', async () => {
    const { bench, lock, waits } = setUp();
    const { tenure, entry } = bench.hold(lock);
    const { waiter } = waits();
    tenure.lose('forced');
    expect(await tenure.leave(entry)).toBe(false);
    expect(waiter.entry.reasons).toEqual([]);
    expect(tenure.count).toBe(0);
  });
});

describe('a tenure is not passed on', () => {
  /** Leaves while somebody waits, and expects a real release. */
  async function expectReleased(set: ReturnType<typeof setUp>, tenure: Tenure, entry: NotingEntry) {
    const { waiter } = set.waits();
    const leaving = tenure.leave(entry);
    await set.clock.advance(0);
    expect(await leaving).toBe(true);
    expect(tenure.isHeld).toBe(false);
    expect(tenure.count).toBe(0);
    expect(waiter.isOver).toBe(false);
  }

  it('when an attempt for it was never answered', async () => {
    const set = setUp();
    const { tenure, entry } = set.bench.hold(set.lock, { doubtful: true });
    await expectReleased(set, tenure, entry);
  });

  it('when it has leaseMs', async () => {
    const set = setUp();
    const { tenure, entry } = set.bench.hold(set.lock, { renewed: false });
    await expectReleased(set, tenure, entry);
  });

  it('when half of its lease has passed', async () => {
    const set = setUp();
    const { tenure, entry } = set.bench.hold(set.lock);
    // No renewal has come: the event loop was blocked.
    set.clock.jump(15_000);
    await expectReleased(set, tenure, entry);
  });

  it('when half of its lease has passed while the machine slept', async () => {
    const set = setUp();
    const { tenure, entry } = set.bench.hold(set.lock);
    set.clock.suspend(15_000);
    await expectReleased(set, tenure, entry);
  });

  it('during a renewal', async () => {
    const set = setUp();
    const { tenure, entry } = set.bench.hold(set.lock);
    const answer = defer<readonly number[]>();
    set.renewal.answer = () => answer.promise;
    await set.clock.advance(10_500);
    expect(set.renewal.calls).toHaveLength(1);
    await expectReleased(set, tenure, entry);
  });

  it('when a renewal has failed', async () => {
    const set = setUp();
    const { tenure, entry } = set.bench.hold(set.lock);
    set.renewal.answer = () => Promise.reject(unreachable());
    await set.clock.advance(10_001);
    await expectReleased(set, tenure, entry);
  });

  it('when it was extended: the server may keep it for longer than a lease of the watchdog', async () => {
    const set = setUp();
    const { tenure, entry } = set.bench.hold(set.lock);
    await tenure.extend(60_000);
    await expectReleased(set, tenure, entry);
  });

  it('while an extension is unanswered, however short', async () => {
    const set = setUp();
    const { tenure, entry } = set.bench.hold(set.lock);
    const answer = defer<readonly number[]>();
    set.renewal.answer = () => answer.promise;
    const extending = tenure.extend(1);
    await expectReleased(set, tenure, entry);
    answer.resolve([1]);
    await extending;
  });

  it('when it is unknown whether its owner entered it again', async () => {
    const set = setUp();
    const { tenure, entry } = set.bench.hold(set.lock);
    set.lock.answers.enter = () => Promise.reject(reset());
    const entering = watchPromise(tenure.enter(new NotingEntry(true), 30_000));
    await set.clock.advance(4_000);
    expect(entering.error).toBeInstanceOf(OutcomeUnknownError);
    await expectReleased(set, tenure, entry);
  });

  it('when it is unknown whether its owner left an inner entry', async () => {
    const set = setUp();
    const { tenure, entry } = set.bench.hold(set.lock);
    const inner = new NotingEntry(true);
    await tenure.enter(inner, 30_000);
    await set.clock.advance(0);
    set.lock.answers.leave = () => Promise.reject(reset());
    const leaving = watchPromise(tenure.leave(inner));
    await set.clock.advance(4_000);
    expect(leaving.error).toBeInstanceOf(OutcomeUnknownError);
    await expectReleased(set, tenure, entry);
  });

  it('when its server had forgotten it, in a grace', async () => {
    const set = setUp();
    const { tenure, entry } = set.bench.hold(set.guardedLock);
    set.renewal.answer = async (keys) => keys.map(() => 0);
    await set.clock.advance(10_500);
    expect(set.guardedLock.claims).toHaveLength(1);
    set.renewal.answer = async (keys) => keys.map(() => 1);
    await expectReleased(set, tenure, entry);
  });

  it('by an inner entry, or before a change of the count is answered', async () => {
    const { bench, clock, lock, waits } = setUp();
    const { tenure, entry } = bench.hold(lock);
    const { waiter } = waits();
    const inner = new NotingEntry(true);
    await tenure.enter(inner, 30_000);
    await clock.advance(0);
    const answer = defer<'held' | 'lost'>();
    lock.answers.leave = () => answer.promise;
    const leavingInner = tenure.leave(inner);
    const leaving = tenure.leave(entry);
    await clock.advance(0);
    expect(tenure.count).toBe(0);
    expect(waiter.isOver).toBe(false);
    answer.resolve('held');
    expect(await Promise.all([leavingInner, leaving])).toEqual([true, true]);
    expect(lock.calls).toEqual(['enter 2 30000', 'leave 1', expect.stringContaining('release')]);
    expect(tenure.count).toBe(0);
  });
});
