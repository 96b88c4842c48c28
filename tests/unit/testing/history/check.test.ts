/** The verdict as a whole, its figures, and histories as long as those of a real run. */
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../../../../src/testing/history/check.ts';
import { Spans } from '../../../../src/testing/history/spans.ts';
import { call, fault, grant, lost, release, violationsOf, visit } from './support/scribe.ts';

describe('a verdict', () => {
  it('of an empty history is valid', () => {
    expect(checkHistory([])).toEqual({
      verdict: 'valid',
      violations: [],
      figures: {
        operations: 0,
        grants: 0,
        windows: 0,
        losses: {},
        faults: 0,
        worstTakeoverMs: 0,
        worstLossLatenessMs: 0,
      },
    });
  });

  it('counts the checked operations', () => {
    const { verdict, figures } = checkHistory([
      ...visit('h1', 100, 200),
      ...call('acquire', [150, 160], {}, 'fail'),
      ...grant('h2', [210, 220], { deadlineMs: 300 }),
      lost('h2', 300, 'expired'),
      ...release('h2', [310, 320], {}, 'fail'),
      ...call('acquire', [330, 331], { kind: 'rate', key: 'rate' }),
      ...fault('cut', [50, 60]),
    ]);
    expect(verdict).toBe('valid');
    expect(figures).toMatchObject({
      operations: 6,
      grants: 3,
      windows: 2,
      losses: { expired: 1 },
      faults: 1,
    });
  });

  it('lists violations in order of time', () => {
    const found = violationsOf([
      visit('h3', 500, 700),
      visit('h4', 600, 800),
      visit('h1', 100, 300),
      visit('h2', 200, 400),
    ]);
    expect(found.map(({ holds }) => holds)).toEqual([
      ['h1', 'h2'],
      ['h3', 'h4'],
    ]);
  });
});

describe('a long history', () => {
  const LENGTH = 10_000;

  it('with one overlap is not too long to find it', () => {
    const visits = Array.from({ length: LENGTH }, (_, i) =>
      visit(`h${i}`, i * 10, i * 10 + 5, { key: `k${i % 7}`, proc: `p${i % 5}`, deadlineMs: i * 10 + 500 }),
    );
    expect(checkHistory(visits.flat()).verdict).toBe('valid');
    visits[7_000] = visit('h7000', 70_000, 70_071, { key: 'k0', proc: 'p0', deadlineMs: 70_500 });
    const startedAt = performance.now();
    expect(violationsOf(visits)).toMatchObject([{ kind: 'overlap', holds: ['h7000', 'h7007'] }]);
    // About a fifth of it on an idle machine; a rule that is quadratic takes minutes.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe('stretches of time', () => {
  const spans = new Spans([
    [30, 40],
    [10, 20],
    [15, 25],
    [40, 45],
  ]);

  it('are joined where they touch', () => {
    expect(spans.parts(0, 100)).toEqual([
      [10, 25],
      [30, 45],
    ]);
    expect(spans.gaps(0, 100)).toEqual([
      [0, 10],
      [25, 30],
      [45, 100],
    ]);
  });

  it('are cut to what is asked for', () => {
    expect(spans.parts(20, 32)).toEqual([
      [20, 25],
      [30, 32],
    ]);
    expect(spans.gaps(20, 32)).toEqual([[25, 30]]);
    expect(spans.uncoveredNs(20, 50)).toBe(10);
    expect(spans.gaps(12, 18)).toEqual([]);
    expect(spans.parts(26, 29)).toEqual([]);
  });

  it('touch what they share a moment with', () => {
    expect(spans.touches(24, 26)).toBe(true);
    expect(spans.touches(25, 30)).toBe(false);
    expect(spans.touches(45, 90)).toBe(false);
  });
});
