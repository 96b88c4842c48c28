/**
 * The checker against histories that are allowed by their making: it finds nothing in them, under whatever weather; and
 * with one defect planted in their making, it finds that.
 */
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../../../../src/testing/history/check.ts';
import type { ViolationKind } from '../../../../src/testing/history/verdict.ts';
import { type Defect, simulate, type Weather } from './support/simulation.ts';

const SEEDS = Array.from({ length: 3 }, (_, i) => i + 1);
const BOUNDS = { samples: 25, searchSteps: 5_000, takeoverMs: 500, settleMs: 300, silentMs: 500 };

function kindsIn(weather: Omit<Weather, 'seed'>): ViolationKind[] {
  const found = SEEDS.flatMap(
    (seed) => checkHistory(simulate({ ...weather, seed }), { ...BOUNDS, seed }).violations,
  );
  return [...new Set(found.map(({ kind }) => kind))];
}

const WEATHERS: [string, Omit<Weather, 'seed'>][] = [
  ['calm', {}],
  ['stalls', { stalls: true }],
  ['deaths', { deaths: true }],
  ['lost replies', { lostReplies: true }],
  ['forces', { forces: true }],
  ['all of it', { stalls: true, deaths: true, lostReplies: true, forces: true }],
];

describe('an allowed history', () => {
  it.each(WEATHERS)('is valid: %s', (_, weather) => {
    for (const seed of SEEDS) {
      const history = simulate({ ...weather, seed });
      const { verdict, violations, figures } = checkHistory(history, { ...BOUNDS, seed });
      expect(violations, `seed ${seed}`).toEqual([]);
      expect(verdict).not.toBe('invalid');
      expect(figures.grants).toBeGreaterThan(50);
    }
  });

  it.each(WEATHERS)('is valid with permits: %s', (_, weather) => {
    for (const seed of SEEDS) {
      const { violations } = checkHistory(simulate({ ...weather, forces: false, permits: 3, seed }), {
        ...BOUNDS,
        seed,
      });
      expect(violations, `seed ${seed}`).toEqual([]);
    }
  });

  it('has only overlaps if the server forgets holds', () => {
    const others = kindsIn({ flushes: true, stalls: true, deaths: true }).filter(
      (kind) => kind !== 'overlap',
    );
    expect(others).toEqual([]);
  });
});

describe('a defect', () => {
  const CASES: [Defect, ViolationKind, Omit<Weather, 'seed'>][] = [
    ['deadline from the reply', 'overlap', { stalls: true }],
    ['release without an owner check', 'overlap', {}],
    ['tokens that start again', 'token-fell', {}],
    ['refuses a free lock', 'not-linearizable', {}],
    ['forgets waiters', 'left-behind', {}],
    ['tells late', 'late-loss', {}],
    ['tells for nothing', 'early-loss', {}],
    ['releases after a loss', 'released-after-loss', {}],
    ['never answers', 'hung', {}],
  ];

  it.each(CASES)('is found: %s gives %s', (defect, kind, weather) => {
    expect(kindsIn({ ...weather, defect })).toContain(kind);
  });
});
