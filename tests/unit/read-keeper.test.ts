/** The arithmetic by which a cut lease is given back. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leaseLasting } from '../../src/primitives/read-keeper.ts';
import { deadlineOf } from '../../src/runtime/lease.ts';

describe('leaseLasting', () => {
  it('can be relied on for the time that is left, and ends no later than the lease it is left of', () => {
    const leaseAndAge = fc
      .integer({ min: 100, max: 10_000_000 })
      .chain((leaseMs) => fc.tuple(fc.constant(leaseMs), fc.integer({ min: 0, max: leaseMs })));
    fc.assert(
      fc.property(leaseAndAge, ([leaseMs, ageMs]) => {
        const remainingMs = deadlineOf(0, leaseMs) - ageMs;
        fc.pre(remainingMs > 0);
        const again = leaseLasting(remainingMs);
        expect(again).toBeLessThanOrEqual(leaseMs - ageMs);
        // Whole milliseconds are given.
        expect(deadlineOf(0, again)).toBeGreaterThan(remainingMs - 1);
      }),
      { numRuns: 1_000 },
    );
  });
});
