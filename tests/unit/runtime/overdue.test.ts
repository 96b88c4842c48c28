/** Warnings about holds and waits that last too long: when, how often, and with which stack. */
import { describe, expect, it } from 'vitest';
import { type Lasting, Overdue } from '../../../src/runtime/overdue.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { Reports } from '../support/bench.ts';

const OFF = Number.POSITIVE_INFINITY;

function setUp(limits: { heldMs?: number; waitMs?: number }) {
  const clock = new ManualClock();
  const reports = new Reports();
  const overdue = new Overdue(clock, reports.report, { heldMs: OFF, waitMs: OFF, ...limits });
  const warned = () => reports.of('warning').map(({ code, about }) => [code, about?.name, about?.forMs]);
  return { clock, reports, overdue, warned };
}

const call = (name: string): Lasting => ({ name });
const hold = (name: string): Lasting => ({ name, owner: `c:${name}` });

/** The caller whose stack is told. */
function asksFromHere(overdue: Overdue, one: Lasting): void {
  overdue.asks(one);
}

describe('a hold that lasts', () => {
  it('is told once, with its owner, how long it lasts and the stack of the call that took it', async () => {
    const { clock, reports, overdue, warned } = setUp({ heldMs: 500 });
    const [asking, held] = [call('a'), hold('a')];
    asksFromHere(overdue, asking);
    await clock.advance(2_000);
    overdue.granted(asking, held);
    overdue.over(asking);
    await clock.advance(499);
    expect(warned()).toEqual([]);
    await clock.advance(1);
    expect(warned()).toEqual([['HOLDFAST_HELD_LONG', 'a', 500]]);
    const [{ about, message } = { about: undefined, message: '' }] = reports.of('warning');
    expect(about?.owner).toBe('c:a');
    expect(about?.stack).toContain('asksFromHere');
    expect(about?.stack).toMatch(/overdue\.test\.ts:\d+/);
    expect(about?.stack).not.toMatch(/src.runtime.overdue\.ts/);
    expect(message).toContain('"a" has been held by c:a for 500 ms');
    await clock.advance(60_000);
    expect(warned()).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not told once it is over, and neither is one that is nothing to hold', async () => {
    const { clock, overdue, warned } = setUp({ heldMs: 500 });
    const [first, held] = [call('a'), hold('a')];
    overdue.asks(first);
    overdue.granted(first, held);
    overdue.granted(first, true);
    await clock.advance(499);
    overdue.over(held);
    await clock.advance(60_000);
    expect(warned()).toEqual([]);
  });

  it('may be one of several permits of one call', async () => {
    const { clock, overdue, warned } = setUp({ heldMs: 500 });
    const asking = call('s');
    const permits = [hold('s1'), hold('s2')];
    overdue.asks(asking);
    overdue.granted(asking, permits);
    overdue.over(permits[0] as Lasting);
    await clock.advance(500);
    expect(warned()).toEqual([['HOLDFAST_HELD_LONG', 's2', 500]]);
  });
});

describe('a wait that lasts', () => {
  it('is told once, and the hold after it as well', async () => {
    const { clock, overdue, warned } = setUp({ waitMs: 300, heldMs: 500 });
    const [asking, held] = [call('a'), hold('a')];
    overdue.asks(asking);
    await clock.advance(1_000);
    expect(warned()).toEqual([['HOLDFAST_WAIT_LONG', 'a', 300]]);
    overdue.granted(asking, held);
    overdue.over(asking);
    await clock.advance(500);
    expect(warned()).toEqual([
      ['HOLDFAST_WAIT_LONG', 'a', 300],
      ['HOLDFAST_HELD_LONG', 'a', 500],
    ]);
  });

  it('says nothing of holds where only waits are limited', async () => {
    const { clock, overdue, warned } = setUp({ waitMs: 300 });
    const asking = call('a');
    overdue.asks(asking);
    overdue.granted(asking, hold('a'));
    overdue.over(asking);
    await clock.advance(60_000);
    expect(warned()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('many', () => {
  it('share one timer, and each is told at its own time', async () => {
    const { clock, overdue, warned } = setUp({ waitMs: 300, heldMs: 100 });
    for (let i = 0; i < 50; i += 1) overdue.asks(call(`w${i}`));
    await clock.advance(250);
    const late = call('late');
    overdue.asks(late);
    overdue.granted(late, hold('late'));
    overdue.over(late);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(50);
    expect(warned()).toHaveLength(50);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(50);
    expect(warned().at(-1)).toEqual(['HOLDFAST_HELD_LONG', 'late', 100]);
  });

  it('are forgotten when the client closes', async () => {
    const { clock, overdue, warned } = setUp({ waitMs: 300 });
    overdue.asks(call('a'));
    overdue.close();
    await clock.advance(1_000);
    expect(warned()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});
