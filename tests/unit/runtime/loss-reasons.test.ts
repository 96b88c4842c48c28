/** Why a hold is said to be lost, and what a wait that never began leaves behind. */
import { describe, expect, it } from 'vitest';
import { acquire } from '../../../src/runtime/acquire.ts';
import { Bench, HandDrivenProtocol, NotingRenewal } from './support/bench.ts';
import { defer } from './support/deferred.ts';

function setUp() {
  const bench = new Bench({ watchdogMs: 3_000, commandTimeoutMs: 3_000 });
  const renewal = new NotingRenewal(bench.clock);
  const protocol = new HandDrivenProtocol('a', renewal);
  return { bench, clock: bench.clock, renewal, protocol, reports: bench.reports };
}

describe('a deadline that passes', () => {
  it('during the first renewal, unanswered yet: the server is unreachable, and that was told before', async () => {
    const { bench, clock, renewal, protocol, reports } = setUp();
    renewal.answer = () => new Promise(() => {});
    const { entry } = bench.hold(protocol);
    await clock.advance(3_000);
    expect(renewal.calls.length).toBeGreaterThan(0);
    expect(entry.reasons).toEqual(['unreachable']);
    expect(reports.all.map(({ event }) => event)).toEqual(['atRisk', 'lost']);
    expect(reports.of('atRisk')).toMatchObject([{ name: 'a', owner: 'c:a', error: expect.any(Error) }]);
    expect(reports.of('lost')).toEqual([{ name: 'a', owner: 'c:a', reason: 'unreachable' }]);
  });

  it('during the first renewal: what it may have prolonged is released', async () => {
    const { bench, clock, renewal, protocol } = setUp();
    renewal.answer = () => new Promise(() => {});
    bench.hold(protocol);
    await clock.advance(3_100);
    expect(protocol.calls).toEqual([expect.stringMatching(/^release /)]);
  });

  it('during a renewal that fails later: told once', async () => {
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

  it('of a lease of its own has expired, and no renewal was at risk', async () => {
    const { bench, clock, protocol, reports } = setUp();
    const { entry } = bench.hold(protocol, { renewed: false });
    await clock.advance(3_000);
    expect(entry.reasons).toEqual(['expired']);
    expect(reports.of('atRisk')).toEqual([]);
  });
});

describe('a wait that is aborted before it begins', () => {
  it('leaves no line, and nothing in the way of the next', async () => {
    const { runtime, clock } = new Bench();
    const giveUp = new AbortController();
    using aborted = runtime.patience(Number.POSITIVE_INFINITY, giveUp.signal);
    using patient = runtime.patience(Number.POSITIVE_INFINITY, undefined);
    const contest = {
      what: 'acquire',
      waiting: { kind: 'messages', channel: 'ch', pollMs: 5_000 },
      attempt: async () => ({ granted: true, value: 'it' }) as const,
      abandon: () => expect.unreachable('nothing was attempted'),
    } as const;
    const line = runtime.line('line');
    giveUp.abort();
    await expect(acquire(contest, line, aborted, runtime)).rejects.toBe(giveUp.signal.reason);

    // A line is there while somebody is in it: asked for again, it is another one.
    const next = runtime.line('line');
    expect(next).not.toBe(line);
    expect(next.isEmpty).toBe(true);
    expect(await acquire(contest, next, patient, runtime)).toEqual({ granted: true, value: 'it' });
    expect(clock.pendingTimers).toBe(0);
  });
});
