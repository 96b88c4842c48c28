/** Draining on a manual clock: for how long, what ends it, and who is turned away. */
import { describe, expect, it } from 'vitest';
import { ClosedError } from '../../../src/errors.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import { HandDrivenAcquisition } from '../support/acquisition.ts';
import { Bench, HandDrivenProtocol, NotingRenewal } from '../support/bench.ts';

/** A runtime with one tenure. */
function held() {
  const bench = new Bench();
  const { clock, runtime } = bench;
  const renewal = new NotingRenewal(clock);
  const { entry, tenure } = bench.hold(new HandDrivenProtocol('it', renewal));
  return { bench, clock, runtime, renewal, entry, tenure };
}

function watched(drained: Promise<void> | undefined): { readonly isOver: boolean } {
  const state = { isOver: false };
  void drained?.then(() => {
    state.isOver = true;
  });
  return state;
}

function acquisition(runtime: Runtime, answer: () => Promise<'granted' | number>, isDowngrade = false) {
  class Reentering extends HandDrivenAcquisition {
    override get isDowngrade(): boolean {
      return isDowngrade;
    }
  }
  const undone: string[] = [];
  const taking = new Reentering(runtime, 'line', {
    what: 'acquire it',
    attempt: answer,
    abandon: () => undone.push('abandoned'),
    withdraw: () => undone.push('withdrawn'),
  });
  return {
    undone,
    taken: taking.take({ waitMs: Number.POSITIVE_INFINITY }).catch((error: unknown) => error),
  };
}

describe('a drain', () => {
  it('does not begin where nothing is held', () => {
    const { runtime } = new Bench();
    expect(runtime.drain(5_000)).toBeUndefined();
    expect(() => runtime.assertAdmitting()).toThrow(ClosedError);
  });

  it('lasts as long as it may, and renews what is held meanwhile', async () => {
    const { runtime, clock, renewal, entry } = held();
    const drain = watched(runtime.drain(100_000));
    await clock.advance(99_999);
    expect(drain.isOver).toBe(false);
    expect(renewal.calls.length).toBeGreaterThanOrEqual(9);
    expect(entry.losses).toEqual([]);
    await clock.advance(1);
    expect(drain.isOver).toBe(true);
  });

  it('ends with the last tenure, and leaves no timer of its own', async () => {
    const { runtime, clock, bench, entry, tenure } = held();
    const renewal = new NotingRenewal(clock);
    const second = bench.hold(new HandDrivenProtocol('another', renewal));
    const before = clock.pendingTimers;
    const drain = watched(runtime.drain(100_000));
    expect(clock.pendingTimers).toBe(before + 1);
    expect(await tenure.leave(entry)).toBe(true);
    expect(drain.isOver).toBe(false);
    expect(await second.tenure.leave(second.entry)).toBe(true);
    await clock.advance(0);
    expect(drain.isOver).toBe(true);
    expect(clock.pendingTimers).toBeLessThanOrEqual(before);
  });

  it('without an end has no timer, and ends when what is held is lost', async () => {
    const { runtime, clock, tenure, entry } = held();
    const before = clock.pendingTimers;
    const drain = watched(runtime.drain(Number.POSITIVE_INFINITY));
    expect(clock.pendingTimers).toBe(before);
    tenure.lose('notOwner');
    await clock.advance(0);
    expect(drain.isOver).toBe(true);
    expect(entry.reasons).toEqual(['notOwner']);
  });

  it('goes on when a tenure continues as another one in the same turn', async () => {
    const { runtime, clock, bench, tenure } = held();
    const drain = watched(runtime.drain(100_000));
    tenure.endLocally();
    const next = bench.hold(new HandDrivenProtocol('it', new NotingRenewal(clock)));
    await clock.advance(0);
    expect(drain.isOver).toBe(false);
    await next.tenure.leave(next.entry);
    await clock.advance(0);
    expect(drain.isOver).toBe(true);
  });

  it('is shortened, and never prolonged', async () => {
    const { runtime, clock } = held();
    const drain = watched(runtime.drain(100_000));
    await clock.advance(1_000);
    runtime.shortenDrain(5_000);
    runtime.shortenDrain(50_000);
    runtime.shortenDrain(Number.POSITIVE_INFINITY);
    await clock.advance(4_999);
    expect(drain.isOver).toBe(false);
    await clock.advance(1);
    expect(drain.isOver).toBe(true);
    runtime.shortenDrain(0);
  });

  it('ends at once when it is shortened to nothing', async () => {
    const { runtime, clock } = held();
    const drain = watched(runtime.drain(Number.POSITIVE_INFINITY));
    runtime.shortenDrain(0);
    await clock.advance(0);
    expect(drain.isOver).toBe(true);
  });

  it('waits for work that holds permits without a lease, and does not interrupt it', async () => {
    const { runtime, clock } = new Bench();
    const interrupted: unknown[] = [];
    const place = runtime.working.add({ interrupt: (reason) => interrupted.push(reason) });
    const drain = watched(runtime.drain(100_000));
    await clock.advance(50_000);
    expect([drain.isOver, interrupted]).toEqual([false, []]);
    runtime.workEnded(place);
    await clock.advance(0);
    expect([drain.isOver, interrupted]).toEqual([true, []]);
  });
});

describe('acquisitions at a drain', () => {
  it('under way are turned away, in whatever state they are, and undone', async () => {
    const { runtime } = held();
    const pausing = acquisition(runtime, async () => 5_000);
    const queued = acquisition(runtime, async () => 'granted');
    await Promise.resolve();
    void runtime.drain(100_000);
    for (const { taken } of [pausing, queued]) expect(await taken).toBeInstanceOf(ClosedError);
    expect(pausing.undone.length + queued.undone.length).toBe(1);
    expect(runtime.underWay.isEmpty).toBe(true);
    expect(runtime.lines.waitingAt('line')).toBeUndefined();
  });

  it('that begin later are refused without an attempt', async () => {
    const { runtime } = held();
    void runtime.drain(100_000);
    const refused = acquisition(runtime, () => expect.unreachable('it asked'));
    expect(await refused.taken).toBe(runtime.closing);
  });

  it('that are re-entries go on, and begin, until everything ends', async () => {
    const { runtime, clock } = held();
    const underWay = acquisition(runtime, async () => 50, true);
    await clock.advance(0);
    void runtime.drain(100_000);
    const begun = acquisition(runtime, async () => 'granted', true);
    await clock.advance(0);
    void runtime.close();
    expect(await underWay.taken).toBe(runtime.closed);
    expect(await begun.taken).toBe(runtime.closed);
  });
});
