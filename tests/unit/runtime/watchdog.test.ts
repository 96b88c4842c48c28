/** Renewals: when they are sent, in what company, and what becomes of holds when they fail. */
import { describe, expect, it } from 'vitest';
import { Bench, HandDrivenProtocol, NotingRenewal } from '../support/bench.ts';
import { defer, refusal, reset, unreachable } from '../support/deferred.ts';

function setUp(settings: { watchdogMs?: number; commandTimeoutMs?: number } = {}) {
  const bench = new Bench(settings);
  const renewal = new NotingRenewal(bench.clock);
  const protocol = (name: string, by = renewal) => new HandDrivenProtocol(name, by);
  const startedAt = bench.clock.now();
  return { bench, clock: bench.clock, renewal, protocol, reports: bench.reports, startedAt };
}

describe('when renewals are sent', () => {
  it('at a third of the lease, again and again', async () => {
    const { bench, clock, renewal, protocol, startedAt } = setUp();
    const { tenure } = bench.hold(protocol('a'));
    await clock.advance(8_900);
    expect(renewal.calls).toHaveLength(0);
    await clock.advance(1_100);
    expect(renewal.calls).toHaveLength(1);
    expect(renewal.calls[0]).toMatchObject({ keys: ['a'], owners: ['c:a'], counts: [1], leaseMs: 30_000 });
    await clock.advance(290_000);
    let before = startedAt;
    for (const { atMs } of renewal.calls) {
      expect(atMs - before).toBeLessThanOrEqual(10_000);
      expect(atMs - before).toBeGreaterThanOrEqual(8_900);
      before = atMs;
    }
    expect(tenure.isHeld).toBe(true);
  });

  it.each([100, 150, 300, 999, 1_000, 1_500, 3_000, 10_000])(
    'in time for a lease of %d ms, also right after the start',
    async (watchdogMs) => {
      const { bench, clock, renewal, protocol, startedAt } = setUp({ watchdogMs });
      const { entry } = bench.hold(protocol('a'));
      await clock.advance(watchdogMs * 10);
      expect(entry.reasons).toEqual([]);
      expect((renewal.calls[0]?.atMs ?? Number.POSITIVE_INFINITY) - startedAt).toBeLessThanOrEqual(
        watchdogMs / 3 + 1,
      );
      expect(renewal.calls.length).toBeGreaterThanOrEqual(29);
    },
  );

  it('in time for a short lease that begins while the watchdog waits for something else', async () => {
    const { bench, clock, protocol } = setUp({ watchdogMs: 300 });
    bench.hold(protocol('leased'), { renewed: false, leaseMs: 60_000 });
    await clock.advance(10);
    const { entry } = bench.hold(protocol('a'));
    await clock.advance(5_000);
    expect(entry.reasons).toEqual([]);
  });

  it('not for a hold with leaseMs', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    const { entry } = bench.hold(protocol('a'), { renewed: false, leaseMs: 20_000 });
    await clock.advance(60_000);
    expect(renewal.calls).toEqual([]);
    expect(entry.reasons).toEqual(['expired']);
  });

  it('not after the hold is released, and no timer stays', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    const { entry, tenure } = bench.hold(protocol('a'));
    await clock.advance(12_000);
    await tenure.leave(entry);
    const before = renewal.calls.length;
    await clock.advance(60_000);
    expect(renewal.calls).toHaveLength(before);
    expect(clock.pendingTimers).toBe(0);
  });

  it('not after the watchdog is closed', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    bench.hold(protocol('a'));
    bench.runtime.watchdog.close();
    await clock.advance(20_000);
    expect(renewal.calls).toEqual([]);
  });
});

describe('when another server is in charge', () => {
  it('all holds are confirmed at once, together, and then again at their time', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    for (const name of ['a', 'b', 'c']) {
      bench.hold(protocol(name));
      await clock.advance(2_000);
    }
    bench.runtime.watchdog.confirmAll();
    await clock.advance(1);
    expect(renewal.calls).toMatchObject([{ keys: ['a', 'b', 'c'], leaseMs: 30_000 }]);
    await clock.advance(10_000);
    expect(renewal.calls).toHaveLength(2);
  });

  it('a hold with leaseMs is confirmed once, with the rest of its lease', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    const { entry } = bench.hold(protocol('a'), { renewed: false, leaseMs: 20_000 });
    await clock.advance(5_000);
    bench.runtime.watchdog.confirmAll();
    await clock.advance(60_000);
    expect(renewal.calls).toMatchObject([{ keys: ['a'], leaseMs: 15_000 }]);
    expect(entry.reasons).toEqual(['expired']);
  });

  it('a hold that the server does not have is lost at once', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    renewal.answer = async (keys) => keys.map((key) => (key === 'a' ? 0 : 1));
    const [a, b] = [bench.hold(protocol('a')), bench.hold(protocol('b'))];
    bench.runtime.watchdog.confirmAll();
    await clock.advance(1);
    expect([a.entry.reasons, b.entry.reasons]).toEqual([['notOwner'], []]);
  });
});

describe('batches', () => {
  it('hold at most 100 locks', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    for (let i = 0; i < 250; i += 1) bench.hold(protocol(`${i}`));
    await clock.advance(10_000);
    expect(renewal.calls.map(({ keys }) => keys.length)).toEqual([100, 100, 50]);
    expect(new Set(renewal.calls.flatMap(({ keys }) => keys)).size).toBe(250);
  });

  it('are sent five in a turn at most: other work of the process comes in between', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    const holds = Array.from({ length: 1_100 }, (_, i) => bench.hold(protocol(`${i}`)));
    const inEachTurn: number[] = [];
    let inThisTurn = 0;
    renewal.answer = async (keys) => {
      inThisTurn += 1;
      if (inThisTurn === 1) {
        setImmediate(() => {
          inEachTurn.push(inThisTurn);
          inThisTurn = 0;
        });
      }
      return keys.map(() => 1);
    };
    await clock.advance(10_000);
    expect(inEachTurn).toEqual([5, 5, 1]);
    expect(new Set(renewal.calls.flatMap(({ keys }) => keys)).size).toBe(1_100);
    for (const { tenure } of holds) expect(tenure.remainingMs).toBeGreaterThan(27_000);
  });

  it('contain holds that were taken shortly after one another', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    for (let i = 0; i < 20; i += 1) {
      bench.hold(protocol(`${i}`));
      await clock.advance(40);
    }
    await clock.advance(10_000);
    expect(renewal.calls.length).toBeLessThanOrEqual(2);
    expect(renewal.calls.flatMap(({ keys }) => keys)).toHaveLength(20);
  });

  it('of one kind do not wait for another kind that gets no answer', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    const stuck = new NotingRenewal(clock);
    stuck.answer = () => new Promise(() => {});
    const a = bench.hold(protocol('a', stuck));
    const b = bench.hold(protocol('b', renewal));
    await clock.advance(60_000);
    expect(stuck.calls).toHaveLength(1);
    expect(renewal.calls.length).toBeGreaterThanOrEqual(5);
    expect(b.tenure.isHeld).toBe(true);
    expect(a.tenure.isHeld).toBe(false);
  });

  it('of one kind do not wait for another kind that fails', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    const failing = new NotingRenewal(clock);
    failing.answer = () => Promise.reject(unreachable());
    bench.hold(protocol('a', failing));
    const b = bench.hold(protocol('b', renewal));
    await clock.advance(60_000);
    expect(b.entry.reasons).toEqual([]);
    expect(renewal.calls.length).toBeGreaterThanOrEqual(5);
  });

  it('that are refused are split: one bad key does not take the others with it', async () => {
    const { bench, clock, renewal, protocol, reports } = setUp();
    renewal.answer = async (keys) => {
      if (keys.includes('bad')) throw refusal();
      return keys.map(() => 1);
    };
    const good = ['a', 'b', 'c'].map((name) => bench.hold(protocol(name)));
    const bad = bench.hold(protocol('bad'));
    await clock.advance(120_000);
    for (const { entry } of good) expect(entry.reasons).toEqual([]);
    expect(bad.entry.reasons).toEqual(['unreachable']);
    expect(reports.of('lost')).toHaveLength(1);
  });
});

describe('a renewal that fails', () => {
  it('is repeated with short pauses until the deadline, not at the next third', async () => {
    const { bench, clock, renewal, protocol, startedAt } = setUp();
    renewal.answer = () => Promise.reject(unreachable());
    const { entry } = bench.hold(protocol('a'));
    await clock.advance(28_197);
    expect(entry.reasons).toEqual([]);
    const times = renewal.calls.map(({ atMs }) => atMs);
    expect(times.length).toBeGreaterThan(18);
    for (let i = 1; i < times.length; i += 1) {
      expect((times[i] as number) - (times[i - 1] as number)).toBeLessThanOrEqual(1_000);
    }
    await clock.advance(1);
    expect(entry.reasons).toEqual(['unreachable']);
    const before = renewal.calls.length;
    await clock.advance(60_000);
    expect(renewal.calls).toHaveLength(before);
    expect(clock.now()).toBeGreaterThan(startedAt + 30_000);
  });

  it('puts the hold at risk once, however often it is repeated', async () => {
    const { bench, clock, renewal, protocol, reports } = setUp();
    const error = unreachable();
    renewal.answer = () => Promise.reject(error);
    bench.hold(protocol('a'));
    await clock.advance(20_000);
    expect(reports.of('atRisk')).toEqual([
      { kind: 'lock', name: 'a', owner: 'c:a', remainingMs: expect.any(Number), error },
    ]);
    expect(reports.of('atRisk')[0]?.remainingMs).toBeGreaterThan(15_000);
  });

  it('and then succeeds, keeps the hold; the next failure puts it at risk again', async () => {
    const { bench, clock, renewal, protocol, reports } = setUp();
    const fail = () => Promise.reject(unreachable());
    const succeed = renewal.answer;
    renewal.answer = fail;
    const { entry, tenure } = bench.hold(protocol('a'));
    await clock.advance(20_000);
    renewal.answer = succeed;
    await clock.advance(1_000);
    expect(tenure.remainingMs).toBeGreaterThan(27_000);
    await clock.advance(60_000);
    expect(entry.reasons).toEqual([]);
    renewal.answer = fail;
    await clock.advance(15_000);
    expect(reports.of('atRisk')).toHaveLength(2);
  });

  it('counts its success from when that attempt was sent', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    const answer = defer<readonly number[]>();
    renewal.answer = () => answer.promise;
    const { tenure } = bench.hold(protocol('a'));
    await clock.advance(15_000);
    const sentAt = renewal.calls[0]?.atMs ?? 0;
    answer.resolve([1]);
    await clock.advance(0);
    expect(tenure.remainingMs).toBeCloseTo(sentAt + 28_198 - clock.now());
  });

  it('never throws, whatever it fails with', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    for (const error of [undefined, null, 'text', new Error('x'), refusal(), reset()]) {
      renewal.answer = () => Promise.reject(error);
      const { entry } = bench.hold(protocol('a'));
      await clock.advance(30_000);
      expect(entry.reasons).toEqual(['unreachable']);
    }
  });

  it('is not repeated for holds that were released meanwhile', async () => {
    const { bench, clock, renewal, protocol, reports } = setUp();
    renewal.answer = () => Promise.reject(unreachable());
    const a = bench.hold(protocol('a'));
    bench.hold(protocol('b'));
    await clock.advance(15_000);
    await a.tenure.leave(a.entry);
    const before = renewal.calls.length;
    await clock.advance(5_000);
    expect(renewal.calls.length).toBeGreaterThan(before);
    for (const { keys } of renewal.calls.slice(before)) expect(keys).toEqual(['b']);
    expect(reports.of('lost')).toEqual([]);
  });
});

describe('an answer of the server', () => {
  it('not the owner any more: the hold is lost at once', async () => {
    const { bench, clock, renewal, protocol, reports } = setUp();
    renewal.answer = async (keys) => keys.map((key) => (key === 'a' ? 0 : 1));
    const a = bench.hold(protocol('a'));
    const b = bench.hold(protocol('b'));
    await clock.advance(10_000);
    expect(a.entry.reasons).toEqual(['notOwner']);
    expect(b.entry.reasons).toEqual([]);
    expect(reports.of('lost')).toEqual([{ kind: 'lock', name: 'a', owner: 'c:a', reason: 'notOwner' }]);
  });

  it('for a hold released during the request is not a loss', async () => {
    const { bench, clock, renewal, protocol, reports } = setUp();
    const answer = defer<readonly number[]>();
    renewal.answer = () => answer.promise;
    const { entry, tenure } = bench.hold(protocol('a'));
    await clock.advance(10_000);
    expect(renewal.calls).toHaveLength(1);
    expect(await tenure.leave(entry)).toBe(true);
    answer.resolve([0]);
    await clock.advance(60_000);
    expect(entry.reasons).toEqual([]);
    expect(reports.all).toEqual([]);
    expect(renewal.calls).toHaveLength(1);
  });

  it('yes, but too late: the hold stays lost, and is released', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    const answer = defer<readonly number[]>();
    renewal.answer = () => answer.promise;
    const lock = protocol('a');
    const { entry, tenure } = bench.hold(lock);
    await clock.advance(29_000);
    expect(entry.reasons).toEqual(['unreachable']);
    expect(lock.calls).toEqual([]);
    answer.resolve([1]);
    await clock.advance(0);
    expect(tenure.isHeld).toBe(false);
    expect(entry.reasons).toEqual(['unreachable']);
    expect(lock.calls).toEqual(['release 90000']);
  });
});

describe('an event loop that was blocked', () => {
  it.each([0.5, 0.6, 0.7, 0.8, 0.9])(
    'for %f of the lease: the hold is kept, and renewed first',
    async (share) => {
      const { bench, clock, renewal, protocol, reports } = setUp();
      const { entry, tenure } = bench.hold(protocol('a'));
      clock.jump(30_000 * share);
      await clock.advance(0);
      expect(renewal.calls).toHaveLength(1);
      expect(tenure.remainingMs).toBeGreaterThan(28_000);
      await clock.advance(60_000);
      expect(entry.reasons).toEqual([]);
      expect(reports.of('lost')).toEqual([]);
    },
  );

  it.each([28_199, 29_500, 30_001, 300_000])(
    'for %d ms, past the deadline: the hold is lost before any renewal is sent',
    async (blockedMs) => {
      const { bench, clock, renewal, protocol } = setUp();
      const { entry } = bench.hold(protocol('a'));
      clock.jump(blockedMs);
      await clock.advance(0);
      expect(entry.reasons).toEqual(['expired']);
      await clock.advance(60_000);
      expect(renewal.calls).toEqual([]);
    },
  );

  it('is reported with how late the timer came', async () => {
    const { bench, clock, protocol, reports } = setUp();
    bench.hold(protocol('a'));
    await clock.advance(5_000);
    clock.jump(3_000);
    await clock.advance(0);
    expect(reports.of('stalled')).toHaveLength(1);
    const lateMs = reports.of('stalled')[0]?.lateMs ?? 0;
    expect(lateMs).toBeGreaterThanOrEqual(2_000);
    expect(lateMs).toBeLessThanOrEqual(3_000);
  });

  it('is not reported when it was not', async () => {
    const { bench, clock, protocol, reports } = setUp();
    bench.hold(protocol('a'));
    await clock.advance(120_000);
    expect(reports.of('stalled')).toEqual([]);
  });
});

describe('a hold whose deadline comes before the next third of the lease, because its grant took long', () => {
  it('is renewed at once', async () => {
    const { bench, clock, renewal, protocol } = setUp({ commandTimeoutMs: 25_000 });
    const { entry } = bench.hold(protocol('a'), { tookMs: 20_000 });
    await clock.advance(0);
    expect(renewal.calls).toHaveLength(1);
    await clock.advance(100_000);
    expect(renewal.calls.length).toBeLessThan(13);
    expect(entry.reasons).toEqual([]);
  });

  it('aborts its signal in time when the server is silent', async () => {
    const { bench, clock, renewal, protocol } = setUp({ commandTimeoutMs: 25_000 });
    renewal.answer = () => new Promise(() => {});
    const { entry } = bench.hold(protocol('a'), { tookMs: 25_000 });
    // The server lets others in after 5 s.
    await clock.advance(3_200);
    expect(entry.reasons).toEqual(['unreachable']);
  });
});

describe('holds that are renewed together', () => {
  it('abort each at its own deadline, though the grant of one took much longer', async () => {
    const { bench, clock, renewal, protocol } = setUp({ commandTimeoutMs: 20_000 });
    const quick = bench.hold(protocol('a'));
    const slow = bench.hold(protocol('b'), { tookMs: 15_000 });
    renewal.answer = () => new Promise(() => {});
    await clock.advance(10_000);
    expect(renewal.calls.map(({ keys }) => keys)).toEqual([['a', 'b']]);
    await clock.advance(3_500);
    expect(slow.entry.reasons).toEqual(['unreachable']);
    expect(quick.entry.reasons).toEqual([]);
  });
});

describe('a machine that was suspended', () => {
  it('past the lease: every hold is lost as soon as the machine wakes, renewed or not', async () => {
    const { bench, clock, renewal, protocol, reports } = setUp();
    const a = bench.hold(protocol('a'));
    const b = bench.hold(protocol('b'), { renewed: false, leaseMs: 20_000 });
    const long = bench.hold(protocol('c'), { renewed: false, leaseMs: 600_000 });
    await clock.advance(1_500);
    clock.suspend(60_000);
    await clock.advance(1_000);
    expect(a.entry.reasons).toEqual(['suspended']);
    expect(b.entry.reasons).toEqual(['suspended']);
    expect(long.entry.reasons).toEqual([]);
    expect(reports.of('lost')).toHaveLength(2);
    expect(renewal.calls).toEqual([]);
  });

  it('not past the lease: the hold is kept, and renewed as soon as the machine wakes', async () => {
    const { bench, clock, protocol } = setUp();
    const { entry, tenure } = bench.hold(protocol('a'));
    clock.suspend(15_000);
    expect(tenure.remainingMs).toBeGreaterThan(12_000);
    expect(tenure.remainingMs).toBeLessThan(13_500);
    await clock.advance(1_000);
    expect(tenure.remainingMs).toBeGreaterThan(28_000);
    await clock.advance(60_000);
    expect(entry.reasons).toEqual([]);
  });

  it.each([5_000, 15_000, 20_000, 25_000])(
    'for %d ms: the signal of a hold with leaseMs aborts in time',
    async (ms) => {
      const { bench, clock, protocol } = setUp();
      const leased = bench.hold(protocol('b'), { renewed: false, leaseMs: 30_000 });
      const beganAt = clock.now();
      await clock.advance(1_500);
      clock.suspend(ms);
      // By the clock of the server, which lets others in after 30 s.
      await clock.advance(29_000 - 1_500 - ms);
      expect(clock.now() + clock.suspendedMs() - beganAt).toBe(29_000);
      expect(leased.entry.reasons).toHaveLength(1);
    },
  );

  it('for 16 s during a renewal: the signal aborts in time', async () => {
    const { bench, clock, renewal, protocol } = setUp({ commandTimeoutMs: 10_000 });
    const { entry } = bench.hold(protocol('a'));
    const beganAt = clock.now();
    renewal.answer = () => new Promise(() => {});
    await clock.advance(10_000);
    expect(renewal.calls).toHaveLength(1);
    clock.suspend(16_000);
    await clock.advance(3_000);
    expect(clock.now() + clock.suspendedMs() - beganAt).toBe(29_000);
    expect(entry.reasons).toHaveLength(1);
  });

  it('is noticed for every hold, also if one of them was checked first', async () => {
    const { bench, clock, protocol } = setUp();
    const a = bench.hold(protocol('a'), { renewed: false, leaseMs: 20_000 });
    const b = bench.hold(protocol('b'), { renewed: false, leaseMs: 20_000 });
    await clock.advance(500);
    clock.suspend(60_000);
    expect(a.tenure.remainingMs).toBe(0);
    expect(() => a.tenure.assertHeld()).toThrow(/suspended/);
    await clock.advance(1_000);
    expect(b.entry.reasons).toEqual(['suspended']);
  });
});
