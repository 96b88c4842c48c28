/** Warnings about holds and waits that last too long: when, how often, and with which stack. */
import { describe, expect, it } from 'vitest';
import { type Lasting, LongHoldWarnings } from '../../../src/runtime/long-hold-warnings.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { Reports } from '../support/bench.ts';

const OFF = Number.POSITIVE_INFINITY;

function setUp(limits: { heldMs?: number; waitMs?: number }) {
  const clock = new ManualClock();
  const reports = new Reports();
  const warnings = new LongHoldWarnings(clock, reports.report, { heldMs: OFF, waitMs: OFF, ...limits });
  const warned = () => reports.of('warning').map(({ code, about }) => [code, about?.name, about?.forMs]);
  return { clock, reports, warnings, warned };
}

const call = (name: string): Lasting => ({ name });
const hold = (name: string): Lasting => ({ name, owner: `c:${name}` });

/** The caller whose stack is told. */
function asksFromHere(warnings: LongHoldWarnings, one: Lasting): void {
  warnings.asks(one);
}

describe('a hold that lasts', () => {
  it('is told once, with its owner, how long it lasts and the stack of the call that took it', async () => {
    const { clock, reports, warnings, warned } = setUp({ heldMs: 500 });
    const [asking, held] = [call('a'), hold('a')];
    asksFromHere(warnings, asking);
    await clock.advance(2_000);
    warnings.granted(asking, held);
    warnings.over(asking);
    await clock.advance(499);
    expect(warned()).toEqual([]);
    await clock.advance(1);
    expect(warned()).toEqual([['HOLDFAST_HELD_LONG', 'a', 500]]);
    const [{ about, message } = { about: undefined, message: '' }] = reports.of('warning');
    expect(about?.owner).toBe('c:a');
    expect(about?.stack).toContain('asksFromHere');
    expect(about?.stack).toMatch(/long-hold-warnings\.test\.ts:\d+/);
    expect(about?.stack).not.toMatch(/src.runtime.long-hold-warnings\.ts/);
    expect(message).toContain('"a" has been held by c:a for 500 ms');
    await clock.advance(60_000);
    expect(warned()).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not told once it is over, and neither is one that is nothing to hold', async () => {
    const { clock, warnings, warned } = setUp({ heldMs: 500 });
    const [first, held] = [call('a'), hold('a')];
    warnings.asks(first);
    warnings.granted(first, held);
    warnings.granted(first, true);
    await clock.advance(499);
    warnings.over(held);
    await clock.advance(60_000);
    expect(warned()).toEqual([]);
  });

  it('may be one of several permits of one call', async () => {
    const { clock, warnings, warned } = setUp({ heldMs: 500 });
    const asking = call('s');
    const permits = [hold('s1'), hold('s2')];
    warnings.asks(asking);
    warnings.granted(asking, permits);
    warnings.over(permits[0] as Lasting);
    await clock.advance(500);
    expect(warned()).toEqual([['HOLDFAST_HELD_LONG', 's2', 500]]);
  });
});

describe('a wait that lasts', () => {
  it('is told once, and the hold after it as well', async () => {
    const { clock, warnings, warned } = setUp({ waitMs: 300, heldMs: 500 });
    const [asking, held] = [call('a'), hold('a')];
    warnings.asks(asking);
    await clock.advance(1_000);
    expect(warned()).toEqual([['HOLDFAST_WAIT_LONG', 'a', 300]]);
    warnings.granted(asking, held);
    warnings.over(asking);
    await clock.advance(500);
    expect(warned()).toEqual([
      ['HOLDFAST_WAIT_LONG', 'a', 300],
      ['HOLDFAST_HELD_LONG', 'a', 500],
    ]);
  });

  it('says nothing of holds where only waits are limited', async () => {
    const { clock, warnings, warned } = setUp({ waitMs: 300 });
    const asking = call('a');
    warnings.asks(asking);
    warnings.granted(asking, hold('a'));
    warnings.over(asking);
    await clock.advance(60_000);
    expect(warned()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('many', () => {
  it('share one timer, and each is told at its own time', async () => {
    const { clock, warnings, warned } = setUp({ waitMs: 300, heldMs: 100 });
    for (let i = 0; i < 50; i += 1) warnings.asks(call(`w${i}`));
    await clock.advance(250);
    const late = call('late');
    warnings.asks(late);
    warnings.granted(late, hold('late'));
    warnings.over(late);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(50);
    expect(warned()).toHaveLength(50);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(50);
    expect(warned().at(-1)).toEqual(['HOLDFAST_HELD_LONG', 'late', 100]);
  });

  it('are forgotten when the client closes', async () => {
    const { clock, warnings, warned } = setUp({ waitMs: 300 });
    warnings.asks(call('a'));
    warnings.close();
    await clock.advance(1_000);
    expect(warned()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});
