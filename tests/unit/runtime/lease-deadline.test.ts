/** The holder's deadline is always before the server's. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deadlineOf } from '../../../src/runtime/lease-deadline.ts';

const sentAts = fc.double({ min: 0, max: 1e9, noNaN: true });

describe('deadlineOf', () => {
  it('comes before the lease can end on the server, whatever the lease', () => {
    fc.assert(
      fc.property(sentAts, fc.integer({ min: 1, max: 10 ** 10 }), (sentAt, leaseMs) => {
        expect(deadlineOf(sentAt, leaseMs)).toBeLessThan(sentAt + leaseMs);
      }),
    );
  });

  it('gives notice of 50 ms, of a twentieth of a longer lease, besides one percent for drift', () => {
    fc.assert(
      fc.property(sentAts, fc.integer({ min: 100, max: 10 ** 9 }), (sentAt, leaseMs) => {
        const noticeMs = sentAt + leaseMs - deadlineOf(sentAt, leaseMs);
        expect(noticeMs).toBeGreaterThanOrEqual(50);
        expect(noticeMs).toBeGreaterThanOrEqual(leaseMs * 0.06);
      }),
    );
  });

  it('leaves part of every lease that the watchdog can have, and most of a long one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 10 ** 9 }), (leaseMs) => {
        const reliedOnMs = deadlineOf(0, leaseMs);
        expect(reliedOnMs).toBeGreaterThan(leaseMs / 3);
        if (leaseMs >= 1_000) expect(reliedOnMs).toBeGreaterThanOrEqual(leaseMs * 0.93);
      }),
    );
  });

  it('of the default lease is 28.2 s after it was sent', () => {
    expect(deadlineOf(1_000, 30_000)).toBe(1_000 + 29_700 - 2 - 1_500);
  });

  it('of a longer lease is later', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 10 ** 9 }),
        fc.integer({ min: 1, max: 10 ** 6 }),
        (lease, more) => {
          expect(deadlineOf(0, lease + more)).toBeGreaterThan(deadlineOf(0, lease));
        },
      ),
    );
  });
});
