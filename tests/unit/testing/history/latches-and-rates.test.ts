/** Latches that open too early, and rate limiters that grant too much. */
import { describe, expect, it } from 'vitest';
import { call, event, fault, kindsOf, set, stalled, violationsOf } from './support/scribe.ts';

describe('a latch', () => {
  const kind = 'latch' as const;
  const counts = (...atMs: number[]) => atMs.map((at) => call('countDown', [at, at + 5], { kind }));
  const passes = (span: readonly [number, number], type: 'ok' | 'fail' = 'ok') =>
    call('await', span, { kind }, type);

  it('opens when all have asked to count down, and not before', () => {
    expect(kindsOf([set({ count: 2 }), ...counts(100, 200), passes([50, 201])])).toEqual([]);
    expect(violationsOf([set({ count: 2 }), ...counts(100, 200), passes([50, 199])])).toMatchObject([
      { kind: 'latch-opened-early', text: 'p/w passed "k" at 199.0 ms, when 1 of 2 had been counted down' },
    ]);
    expect(kindsOf([set({ count: 2 }), ...counts(100), passes([50, 199], 'fail')])).toEqual([]);
  });

  it('is open before it is set', () => {
    expect(kindsOf([passes([10, 11]), set({ count: 2 }, 20), ...counts(100, 200)])).toEqual([]);
    expect(kindsOf([passes([10, 60]), set({ count: 2 }, 20), ...counts(100, 200)])).toEqual([]);
  });

  it('may be set again when it is open', () => {
    const rounds = [set({ count: 1 }), ...counts(100), set({ count: 1 }, 200)];
    expect(kindsOf([...rounds, ...counts(300), passes([250, 310])])).toEqual([]);
    expect(kindsOf([...rounds, ...counts(300), passes([250, 290])])).toEqual(['latch-opened-early']);
    expect(kindsOf([...rounds, ...counts(300), passes([150, 290])])).toEqual([]);
  });
});

describe('a waiter for a latch', () => {
  const kind = 'latch' as const;
  const counts = (...atMs: number[]) => atMs.map((at) => call('countDown', [at, at + 5], { kind }));
  const waits = (toMs: number) => call('await', [50, toMs], { kind, proc: 'q' });
  const bounds = { takeoverMs: 1_000, settleMs: 100 };
  const open = [set({ count: 2 }), ...counts(100, 200)];

  it('continues soon after the last count', () => {
    expect(kindsOf([...open, waits(1_200)], bounds)).toEqual([]);
    expect(kindsOf([...open, waits(1_300)], bounds)).toEqual(['left-behind']);
    expect(kindsOf([set({ count: 2 }), ...counts(100), waits(1_300)], bounds)).toEqual([
      'latch-opened-early',
    ]);
  });

  it('has to wait while counts are in doubt, a fault lasts or its process stands still', () => {
    const doubtful = call('countDown', [200, 205], { kind }, 'info');
    expect(kindsOf([set({ count: 2 }), ...counts(100), doubtful, waits(1_300)], bounds)).toEqual([]);
    expect(kindsOf([...open, fault('cut', [300, 400]), waits(1_300)], bounds)).toEqual([]);
    expect(kindsOf([...open, stalled('q', 300, 900), waits(1_300)], bounds)).toEqual([]);
    expect(
      kindsOf([...open, fault('flush', [20, 21], { removesHolds: true }), waits(5_000)], bounds),
    ).toEqual([]);
  });

  it('has to wait for the next round once the latch is set again', () => {
    expect(kindsOf([...open, set({ count: 1 }, 300), waits(1_600)], bounds)).toEqual([]);
  });
});

describe('a rate limiter', () => {
  const kind = 'rate' as const;
  const rate = set({ permits: 2, intervalMs: 1_000 });
  const takes = (span: readonly [number, number], permits = 1) => call('acquire', span, { kind, permits });

  it('grants its rate in an interval, and not more', () => {
    expect(kindsOf([rate, takes([100, 110]), takes([200, 210]), takes([1_120, 1_130])])).toEqual([]);
    expect(violationsOf([rate, takes([100, 110]), takes([200, 210]), takes([1_060, 1_070])])).toMatchObject([
      { kind: 'rate-exceeded', fromNs: 100e6, toNs: 1_070e6 },
    ]);
    expect(kindsOf([rate, takes([100, 110], 2), takes([1_060, 1_070])])).toEqual(['rate-exceeded']);
  });

  it('does not count grants that may be before or after the interval', () => {
    expect(kindsOf([rate, takes([50, 110]), takes([200, 210]), takes([1_060, 1_070])])).toEqual([]);
    expect(kindsOf([rate, takes([100, 110]), takes([200, 210]), takes([1_060, 1_120])])).toEqual([]);
    const refused = call('acquire', [300, 310], { kind }, 'fail');
    const doubtful = call('acquire', [300, 310], { kind }, 'info');
    expect(kindsOf([rate, takes([100, 110]), takes([200, 210]), refused, doubtful])).toEqual([]);
  });

  it('starts again with another rate', () => {
    const three = [takes([100, 110]), takes([200, 210]), takes([400, 410])];
    expect(kindsOf([rate, ...three])).toEqual(['rate-exceeded']);
    expect(kindsOf([rate, ...three, set({ permits: 2, intervalMs: 1_000 }, 300)])).toEqual([]);
  });

  it('may grant released permits again', () => {
    const three = [takes([100, 110]), takes([200, 210]), takes([400, 410])];
    expect(kindsOf([rate, ...three, call('release', [300, 310], { kind })])).toEqual([]);
    expect(kindsOf([rate, ...three, call('release', [420, 430], { kind })])).toEqual(['rate-exceeded']);
  });

  it('is reported once for one burst', () => {
    const burst = Array.from({ length: 20 }, (_, i) => takes([100 + i, 101 + i]));
    expect(violationsOf([rate, ...burst])).toHaveLength(1);
  });

  it('is not a semaphore: it has no holds', () => {
    expect(kindsOf([rate, takes([100, 110], 2), event('left', 'info', 5_000, { permits: 2 })])).toEqual([]);
  });
});
