/** Growing pauses with jitter. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Backoff } from '../../../src/runtime/backoff.ts';

describe('Backoff', () => {
  it('stays between half and all of a step, which doubles up to the limit', () => {
    const limits = fc.record({
      firstMs: fc.integer({ min: 1, max: 1_000 }),
      factor: fc.integer({ min: 1, max: 100 }),
      steps: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(limits, ({ firstMs, factor, steps }) => {
        const longestMs = firstMs * factor;
        const backoff = new Backoff(firstMs, longestMs);
        for (let i = 0; i < steps; i += 1) {
          const stepMs = Math.min(firstMs * 2 ** i, longestMs);
          const pauseMs = backoff.next();
          expect(pauseMs).toBeGreaterThanOrEqual(stepMs / 2);
          expect(pauseMs).toBeLessThanOrEqual(stepMs);
        }
      }),
    );
  });

  it('varies', () => {
    const backoff = new Backoff(1_000, 1_000);
    const pauses = new Set(Array.from({ length: 50 }, () => backoff.next()));
    expect(pauses.size).toBeGreaterThan(10);
  });

  it('starts again after a reset', () => {
    const backoff = new Backoff(10, 10_000);
    for (let i = 0; i < 8; i += 1) backoff.next();
    backoff.reset();
    expect(backoff.next()).toBeLessThanOrEqual(10);
    expect(backoff.next()).toBeLessThanOrEqual(20);
  });
});
