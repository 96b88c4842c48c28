/** Why a hold is said to be lost, and what a wait that never began leaves behind. */
import { describe, expect, it } from 'vitest';
import { HandDrivenAcquisition } from '../support/acquisition.ts';
import { Bench, HandDrivenProtocol, NotingRenewal } from '../support/bench.ts';
import { defer } from '../support/deferred.ts';

function setUp() {
  const bench = new Bench({ watchdogMs: 3_000, commandTimeoutMs: 3_000 });
  const renewal = new NotingRenewal(bench.clock);
  const protocol = new HandDrivenProtocol('a', renewal);
  return { bench, clock: bench.clock, renewal, protocol, reports: bench.reports };
}

describe('a deadline that passes', () => {
  it('during an unanswered first renewal: the reason is unreachable, and the risk was reported before', async () => {
    const { bench, clock, renewal, protocol, reports } = setUp();
    renewal.answer = () => new Promise(() => {});
    const { entry } = bench.hold(protocol);
    await clock.advance(3_000);
    expect(renewal.calls.length).toBeGreaterThan(0);
    expect(entry.reasons).toEqual(['unreachable']);
    expect(reports.all.map(({ event }) => event)).toEqual(['atRisk', 'lost']);
    expect(reports.of('atRisk')).toMatchObject([{ name: 'a', owner: 'c:a', error: expect.any(Error) }]);
    expect(reports.of('lost')).toEqual([{ kind: 'lock', name: 'a', owner: 'c:a', reason: 'unreachable' }]);
  });

  it('during the first renewal: a lease that it may have extended is released', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    renewal.answer = () => new Promise(() => {});
    bench.hold(protocol);
    await clock.advance(3_100);
    expect(protocol.calls).toEqual([expect.stringMatching(/^release /)]);
  });

  it('during a renewal that fails later: the loss is reported once', async () => {
    const { bench, clock, renewal, protocol, reports } = setUp();
    const answer = defer<readonly number[]>();
    renewal.answer = () => answer.promise;
    const { entry } = bench.hold(protocol);
    await clock.advance(3_000);
    answer.reject(new Error('Command timed out'));
    await clock.advance(3_000);
    expect(entry.reasons).toEqual(['unreachable']);
    expect(reports.of('atRisk')).toHaveLength(1);
    expect(reports.of('lost')).toHaveLength(1);
  });

  it('of a hold with leaseMs: the reason is expired, and no risk was reported', async () => {
    const { bench, clock, protocol, reports } = setUp();
    const { entry } = bench.hold(protocol, { renewed: false });
    await clock.advance(3_000);
    expect(entry.reasons).toEqual(['expired']);
    expect(reports.of('atRisk')).toEqual([]);
  });
});

describe('a wait that is aborted before it begins', () => {
  it('leaves no line, and does not block the next caller', async () => {
    const { runtime, clock } = new Bench();
    const giveUp = new AbortController();
    const hands = {
      what: 'acquire',
      attempt: async () => 'granted' as const,
      abandon: () => expect.unreachable('nothing was attempted'),
      withdraw: () => expect.unreachable('nothing was attempted'),
    };
    const take = (signal?: AbortSignal) =>
      new HandDrivenAcquisition(runtime, 'line', hands).take({ waitMs: Number.POSITIVE_INFINITY, signal });
    giveUp.abort();
    await expect(take(giveUp.signal)).rejects.toBe(giveUp.signal.reason);
    expect(runtime.lines.waitingAt('line')).toBeUndefined();
    expect(await take()).toBe('it');
    expect(clock.pendingTimers).toBe(0);
  });
});
