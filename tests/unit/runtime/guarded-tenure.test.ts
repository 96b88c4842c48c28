/** A hold that the server may forget: how long its word counts, how it is asked for anew, and what is asked back. */
import { describe, expect, it } from 'vitest';
import { LeaseLostError, NotHeldError } from '../../../src/errors.ts';
import { Tenure } from '../../../src/runtime/tenure.ts';
import { Bench, NotingEntry, NotingRenewal } from '../support/bench.ts';
import { defer, refusal, reset, unreachable, watchPromise } from '../support/deferred.ts';
import { GuardedProtocol } from '../support/guarded.ts';

function setUp({ watchdogMs = 30_000, graceMs = 30_000 } = {}) {
  const bench = new Bench({ watchdogMs });
  const renewal = new NotingRenewal(bench.clock);
  const protocol = (name: string) => new GuardedProtocol(name, renewal, graceMs);
  const lock = protocol('a');
  return { bench, clock: bench.clock, lock, protocol, renewal, reports: bench.reports };
}

/** From now on the server is not heard of. */
function silence({ renewal, lock }: ReturnType<typeof setUp>): void {
  renewal.answer = async () => {
    throw unreachable();
  };
  lock.reclaim = async () => {
    throw unreachable();
  };
}

describe('how long a confirmation of the server counts', () => {
  it('a lease longer than the grace is reliable for less than a grace without a confirmation', async () => {
    const stage = setUp();
    const { bench, clock, lock } = stage;
    const { entry, tenure } = bench.hold(lock, { renewed: false, leaseMs: 600_000 });
    silence(stage);
    expect(tenure.remainingMs).toBeLessThan(30_000);
    expect(tenure.remainingMs).toBeGreaterThan(25_000);
    await clock.advance(25_000);
    expect(entry.reasons).toEqual([]);
    await clock.advance(5_000 - 1);
    expect(entry.reasons).toEqual(['unreachable']);
  });

  it('a lease shorter than the grace ends as it would without a guard', async () => {
    const { bench, clock, lock } = setUp();
    const { entry } = bench.hold(lock, { renewed: false, leaseMs: 5_000 });
    await clock.advance(4_500);
    expect(entry.reasons).toEqual([]);
    await clock.advance(500);
    expect(entry.reasons).toEqual(['expired']);
  });

  it('counts from the send time of the confirmed request', async () => {
    const stage = setUp();
    const { bench, clock, lock, renewal } = stage;
    const { tenure } = bench.hold(lock, { renewed: false, leaseMs: 600_000 });
    const answer = defer<readonly number[]>();
    renewal.answer = () => answer.promise;
    await clock.advance(10_000);
    expect(renewal.calls).toHaveLength(1);
    const sentAt = renewal.calls[0]?.atMs ?? 0;
    await clock.advance(8_000);
    answer.resolve([1]);
    silence(stage);
    await clock.advance(0);
    expect(clock.now() + tenure.remainingMs).toBeLessThan(sentAt + 30_000);
    expect(clock.now() + tenure.remainingMs).toBeGreaterThan(sentAt + 25_000);
  });

  it('never counts for longer than the confirmed lease, though an earlier lease was longer', async () => {
    const stage = setUp({ watchdogMs: 9_000, graceMs: 30_000 });
    const { bench, clock, lock, renewal } = stage;
    const { tenure } = bench.hold(lock);
    await tenure.extend(600_000);
    // Another server is in charge by now, which knows the hold but nothing of its long lease.
    await clock.advance(60_000);
    const { atMs, leaseMs } = renewal.calls.at(-1) ?? { atMs: 0, leaseMs: 0 };
    expect(clock.now() - atMs).toBeLessThan(3_001);
    expect(clock.now() + tenure.remainingMs).toBeLessThan(atMs + leaseMs);
  });

  it('a reclaimed hold counts for no longer than its reclaimed lease', async () => {
    const stage = setUp({ watchdogMs: 9_000, graceMs: 30_000 });
    const { bench, clock, lock, renewal } = stage;
    const { tenure } = bench.hold(lock);
    await tenure.extend(600_000);
    await clock.advance(60_000);
    renewal.answer = async (keys) => keys.map(() => 0);
    await clock.advance(3_000);
    expect(lock.claims.length).toBeGreaterThan(0);
    const claimedAt = clock.now();
    silence(stage);
    expect(claimedAt + tenure.remainingMs).toBeLessThan(claimedAt + (lock.claims.at(-1)?.leaseMs ?? 0));
  });
});

describe('a hold that the server has forgotten', () => {
  /** The server has forgotten it. */
  function forgotten(settings?: Parameters<typeof setUp>[0]) {
    const stage = setUp(settings);
    stage.renewal.answer = async (keys) => keys.map(() => 0);
    return { ...stage, ...stage.bench.hold(stage.lock) };
  }

  it('is reclaimed unchanged, and kept', async () => {
    const { clock, entry, lock, renewal, reports } = forgotten();
    await clock.advance(10_000);
    expect(lock.claims).toEqual([{ owner: 'c:a', count: 1, leaseMs: 30_000, token: undefined }]);
    renewal.answer = async (keys) => keys.map(() => 1);
    await clock.advance(120_000);
    expect(entry.reasons).toEqual([]);
    expect(lock.claims).toHaveLength(1);
    expect(reports.of('lost')).toEqual([]);
  });

  it('is reclaimed with its count, its token, and the rest of its own lease', async () => {
    const { bench, clock, lock, renewal } = setUp();
    const entry = new NotingEntry(false);
    const grant = { owner: 'c:7', sentAt: clock.now(), leaseMs: 50_000, token: 1234 };
    const tenure = new Tenure(bench.runtime, lock, grant, entry, () => {});
    await tenure.enter(new NotingEntry(false), 50_000);
    renewal.answer = async (keys) => keys.map(() => 0);
    await clock.advance(10_000);
    const [claim] = lock.claims;
    expect(claim).toMatchObject({ owner: 'c:7', count: 2, token: 1234 });
    expect(claim?.leaseMs).toBeGreaterThanOrEqual(40_000);
    expect(claim?.leaseMs).toBeLessThan(41_500);
  });

  it.each([
    ['taken', 'failover'],
    ['lost', 'notOwner'],
  ] as const)('answered "%s", is lost at once, and nothing is released', async (answer, reason) => {
    const { clock, entry, lock } = forgotten();
    lock.reclaim = async () => answer;
    await clock.advance(10_000);
    expect(entry.reasons).toEqual([reason]);
    await clock.advance(120_000);
    expect(lock.calls).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['no answer', reset],
    ['not reached', unreachable],
    ['refused', refusal],
  ])('%s: is requested repeatedly until its deadline, and reported at risk once', async (_, failure) => {
    const { clock, entry, lock, renewal, reports, tenure } = forgotten();
    lock.reclaim = async () => {
      throw failure();
    };
    await clock.advance(20_000);
    const deadline = clock.now() + tenure.remainingMs;
    expect(entry.reasons).toEqual([]);
    expect(lock.claims.length).toBeGreaterThan(5);
    expect(lock.claims.length).toBeLessThanOrEqual(renewal.calls.length);
    expect(reports.of('atRisk')).toHaveLength(1);
    await clock.advance(deadline - clock.now());
    expect(entry.reasons).toEqual(['unreachable']);
    const asked = lock.claims.length;
    await clock.advance(60_000);
    expect(lock.claims).toHaveLength(asked);
  });

  it('and then answered, is kept; the next silence puts it at risk again', async () => {
    const { clock, entry, lock, renewal, reports } = forgotten();
    lock.reclaim = async () => {
      throw reset();
    };
    await clock.advance(15_000);
    lock.reclaim = async () => {
      renewal.answer = async (keys) => keys.map(() => 1);
      return 'held';
    };
    await clock.advance(60_000);
    expect(entry.reasons).toEqual([]);
    expect(reports.of('atRisk')).toHaveLength(1);
    renewal.answer = async () => {
      throw reset();
    };
    await clock.advance(11_000);
    expect(reports.of('atRisk')).toHaveLength(2);
  });

  it('is not reclaimed once its deadline has passed', async () => {
    const { clock, entry, lock, tenure } = forgotten();
    clock.jump(31_000);
    expect(await tenure.reclaim()).toBe(false);
    await clock.advance(10_000);
    expect(entry.reasons).toEqual(['expired']);
    expect(lock.claims).toEqual([]);
  });

  it('answered after its signal aborted: the reclaimed hold is released', async () => {
    const { clock, entry, lock } = forgotten();
    const answer = defer<'held'>();
    lock.reclaim = () => answer.promise;
    await clock.advance(29_500);
    expect(entry.reasons).toEqual(['unreachable']);
    answer.resolve('held');
    await clock.advance(0);
    expect(lock.calls).toEqual(['release 90000']);
  });

  it('does not affect the other holds of its batch', async () => {
    const { bench, clock, lock, protocol, renewal } = setUp();
    const [first, second, third] = [lock, protocol('b'), protocol('c')];
    const holds = [first, second, third].map((one) => bench.hold(one));
    renewal.answer = async (keys) => keys.map((key) => (key === 'b' ? 0 : 1));
    second.reclaim = async () => 'taken';
    await clock.advance(60_000);
    expect(holds.map(({ entry }) => entry.reasons)).toEqual([[], ['failover'], []]);
    expect(second.claims).toHaveLength(1);
    expect([...first.claims, ...third.claims]).toEqual([]);
  });

  it('without an answer does not stop the rest of its batch from being reclaimed', async () => {
    const { bench, clock, lock, protocol, renewal } = setUp();
    const other = protocol('b');
    const [silent, back] = [bench.hold(lock), bench.hold(other)];
    const known = new Set<string>();
    renewal.answer = async (keys) => keys.map((key) => (known.has(key) ? 1 : 0));
    lock.reclaim = () => new Promise(() => {});
    other.reclaim = async () => {
      known.add('b');
      return 'held';
    };
    await clock.advance(60_000);
    expect(silent.entry.reasons).toEqual(['unreachable']);
    expect(back.entry.reasons).toEqual([]);
  });
});

describe('entering a hold that the server has forgotten', () => {
  it('reclaims the hold first, and then enters', async () => {
    const { bench, lock } = setUp();
    const { tenure } = bench.hold(lock);
    const answers: ('held' | 'lost')[] = ['lost', 'held'];
    lock.answers.enter = async () => answers.shift() ?? 'lost';
    expect(await tenure.enter(new NotingEntry(true), 30_000)).toBe(true);
    expect(lock.claims).toMatchObject([{ count: 1 }]);
    expect(lock.calls).toEqual(['enter 2 30000', 'enter 2 30000']);
    expect(tenure.count).toBe(2);
  });

  it('is a loss for every entry if another owner has the lock', async () => {
    const { bench, lock } = setUp();
    const { entry, tenure } = bench.hold(lock);
    lock.answers.enter = async () => 'lost';
    lock.reclaim = async () => 'taken';
    await expect(tenure.enter(new NotingEntry(true), 30_000)).rejects.toThrow(LeaseLostError);
    expect(entry.reasons).toEqual(['failover']);
  });

  it('repeats both steps after a lost reply', async () => {
    const { bench, clock, lock } = setUp();
    const { tenure } = bench.hold(lock);
    let isBack = false;
    lock.answers.enter = async () => (isBack ? 'held' : 'lost');
    let failures = 1;
    lock.reclaim = async () => {
      if (failures-- > 0) throw reset();
      isBack = true;
      return 'held';
    };
    const entering = watchPromise(tenure.enter(new NotingEntry(true), 30_000));
    await clock.advance(1_000);
    expect(entering).toMatchObject({ state: 'resolved', value: true });
    expect(lock.claims).toHaveLength(2);
  });
});

describe('extending a hold that the server has forgotten', () => {
  it('reclaims the hold first, and then extends', async () => {
    const { bench, lock, renewal } = setUp();
    const { entry, tenure } = bench.hold(lock);
    const answers = [0, 1];
    renewal.answer = async () => [answers.shift() ?? 0];
    await tenure.extend(600_000);
    expect(renewal.calls.map(({ leaseMs }) => leaseMs)).toEqual([600_000, 600_000]);
    expect(lock.claims).toHaveLength(1);
    expect(entry.reasons).toEqual([]);
  });

  it('is a loss if the hold cannot be reclaimed', async () => {
    const { bench, lock, renewal } = setUp();
    const { entry, tenure } = bench.hold(lock);
    renewal.answer = async () => [0];
    lock.reclaim = async () => 'lost';
    await expect(tenure.extend(600_000)).rejects.toThrow(LeaseLostError);
    expect(entry.reasons).toEqual(['notOwner']);
  });

  it('released during the request: the hold is not reclaimed, and there is nothing to extend', async () => {
    const { bench, clock, lock, renewal } = setUp();
    const { entry, tenure } = bench.hold(lock);
    const answer = defer<readonly number[]>();
    renewal.answer = () => answer.promise;
    const extending = watchPromise(tenure.extend(600_000));
    await tenure.leave(entry);
    answer.resolve([0]);
    await clock.advance(0);
    expect(extending.error).toBeInstanceOf(NotHeldError);
    expect(lock.claims).toEqual([]);
  });
});

describe('leaving a hold that the server has forgotten', () => {
  async function entered() {
    const stage = setUp();
    const { entry, tenure } = stage.bench.hold(stage.lock);
    const second = new NotingEntry(true);
    await tenure.enter(second, 30_000);
    stage.lock.answers.leave = async () => 'lost';
    return { ...stage, entry, second, tenure };
  }

  it('one of several entries: the hold is reclaimed with the remaining count', async () => {
    const { entry, lock, second, tenure } = await entered();
    expect(await tenure.leave(second)).toBe(true);
    expect(lock.claims).toMatchObject([{ count: 1 }]);
    expect(entry.reasons).toEqual([]);
  });

  it('one of several entries, and another owner has the lock: answers false, and the other entries are lost', async () => {
    const { entry, lock, second, tenure } = await entered();
    lock.reclaim = async () => 'taken';
    expect(await tenure.leave(second)).toBe(false);
    expect(entry.reasons).toEqual(['failover']);
    expect(second.reasons).toEqual([]);
  });

  it('the last entry: within the grace no other owner had the lock, so it was held until now', async () => {
    const { bench, lock, reports } = setUp();
    const { entry, tenure } = bench.hold(lock);
    lock.answers.release = async () => 'lost';
    lock.isGrace = async () => true;
    expect(await tenure.leave(entry)).toBe(true);
    expect(lock.calls).toEqual(['release 6000', 'is-grace']);
    expect(lock.claims).toEqual([]);
    expect(reports.of('lost')).toEqual([]);
  });

  it('the last entry, on a server that has forgotten nothing: the hold was lost before', async () => {
    const { bench, lock, reports } = setUp();
    const { entry, tenure } = bench.hold(lock);
    lock.answers.release = async () => 'lost';
    expect(await tenure.leave(entry)).toBe(false);
    expect(reports.of('lost')).toMatchObject([{ reason: 'notOwner' }]);
  });

  it('the last entry, on a server that has the hold: the grace does not matter', async () => {
    const { bench, lock } = setUp();
    const { entry, tenure } = bench.hold(lock);
    expect(await tenure.leave(entry)).toBe(true);
    expect(lock.calls).toEqual(['release 6000']);
  });

  it('during a reclaim: the reclaimed hold is not kept, and no loss is reported', async () => {
    const { bench, clock, lock, renewal, reports } = setUp();
    const { entry, tenure } = bench.hold(lock);
    renewal.answer = async () => [0];
    const answer = defer<'held' | 'taken' | 'lost'>();
    lock.reclaim = () => answer.promise;
    await clock.advance(10_000);
    expect(lock.claims).toHaveLength(1);
    expect(await tenure.leave(entry)).toBe(true);
    // The release was sent after it, and found what it had brought back.
    answer.resolve('held');
    await clock.advance(60_000);
    expect(lock.calls).toEqual(['release 6000']);
    expect(lock.claims).toHaveLength(1);
    expect(entry.reasons).toEqual([]);
    expect(reports.of('lost')).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a hold with leaseMs', () => {
  it('is confirmed with the rest of its lease, separately, and never extended', async () => {
    const { bench, clock, lock, protocol, renewal } = setUp();
    const { entry } = bench.hold(lock, { renewed: false, leaseMs: 45_000 });
    bench.hold(protocol('b'));
    await clock.advance(29_900);
    const own = renewal.calls.filter(({ keys }) => keys.includes('a'));
    expect(own.length).toBeGreaterThanOrEqual(2);
    for (const { keys, leaseMs, atMs } of own) {
      expect(keys).toEqual(['a']);
      expect(atMs + leaseMs).toBeGreaterThanOrEqual(1_000 + 45_000);
      expect(atMs + leaseMs).toBeLessThanOrEqual(1_000 + 45_001);
    }
    await clock.advance(20_000);
    expect(entry.reasons).toEqual(['expired']);
  });

  it('is not confirmed after its release', async () => {
    const { bench, clock, lock, renewal } = setUp();
    const { entry, tenure } = bench.hold(lock, { renewed: false, leaseMs: 600_000 });
    await tenure.leave(entry);
    await clock.advance(60_000);
    expect(renewal.calls).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('lost without a confirmation is released once no holder can rely on it: its lease would keep others out', async () => {
    const { bench, clock, lock } = setUp();
    const { entry, tenure } = bench.hold(lock, { renewed: false, leaseMs: 600_000 });
    const startedAt = clock.now();
    clock.jump(29_500);
    tenure.checkDeadline();
    expect(entry.reasons).toEqual(['expired']);
    await clock.advance(0);
    expect(lock.calls).toEqual([]);
    await clock.advance(startedAt + 30_000 - clock.now());
    expect(lock.calls).toEqual(['release 660000']);
  });

  it('lost because the server is unreachable is released as soon as the server answers, not when its lease ends', async () => {
    const stage = setUp();
    const { bench, clock, lock } = stage;
    const { entry } = bench.hold(lock, { renewed: false, leaseMs: 600_000 });
    silence(stage);
    await clock.advance(29_500);
    expect(entry.reasons).toEqual(['unreachable']);
    expect(lock.calls).toEqual([]);
    await clock.advance(500);
    expect(lock.calls).toEqual(['release 660000']);
  });
});

describe('a renewal that fails and is repeated', () => {
  it('gives each hold its own lease, though one of them has got a leaseMs meanwhile', async () => {
    const { bench, clock, lock, protocol, renewal } = setUp();
    const { entry, tenure } = bench.hold(lock);
    await tenure.enter(new NotingEntry(false), 600_000);
    const other = bench.hold(protocol('b'));
    renewal.answer = async () => {
      throw reset();
    };
    await clock.advance(10_000);
    await tenure.leave(entry);
    renewal.answer = async (keys) => keys.map(() => 1);
    await clock.advance(1_000);
    const last = renewal.calls.findLast(({ keys }) => keys.includes('b'));
    expect(last).toMatchObject({ leaseMs: 30_000 });
    expect(other.entry.reasons).toEqual([]);
  });
});
