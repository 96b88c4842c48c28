import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planRetreat, stepAt } from '../../../../src/cli/run/retreat.ts';
import { deadlineOf } from '../../../../src/runtime/lease-deadline.ts';

describe('planRetreat', () => {
  it('gives five seconds where the lease has room, and less in a short one', () => {
    expect(planRetreat(deadlineOf(0, 30_000))).toEqual({ graceMs: 5_000, reserveMs: 500 });
    expect(planRetreat(1_000)).toEqual({ graceMs: 400, reserveMs: 100 });
  });

  it('refuses a grace that does not fit, and takes one that does', () => {
    expect(planRetreat(10_000, 4_000)).toEqual({ graceMs: 4_000, reserveMs: 500 });
    expect(() => planRetreat(10_000, 4_501)).toThrow('--grace 4501ms does not fit into the lease');
  });

  it('never stops a command between two renewals that succeed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 3_600_000 }), (leaseMs) => {
        const reliableMs = deadlineOf(0, leaseMs);
        const { signal } = stepAt(planRetreat(reliableMs), reliableMs - leaseMs / 3, undefined);
        expect(signal).toBeNull();
      }),
    );
  });
});

describe('stepAt', () => {
  const retreat = { graceMs: 1_000, reserveMs: 200 };

  it('waits until grace and reserve are left', () => {
    expect(stepAt(retreat, 5_000, undefined)).toEqual({ signal: null, nextMs: 3_800 });
    expect(stepAt(retreat, 1_200, undefined)).toEqual({ signal: 'SIGTERM', nextMs: 1_000 });
  });

  it('kills when the reserve is left, or the grace is over', () => {
    expect(stepAt(retreat, 900, 300)).toEqual({ signal: null, nextMs: 700 });
    expect(stepAt(retreat, 200, 1_000)).toMatchObject({ signal: 'SIGKILL' });
    expect(stepAt(retreat, 20_000, 1_000)).toMatchObject({ signal: 'SIGKILL' });
  });

  it('kills at once when nothing is left', () => {
    expect(stepAt(retreat, 0, undefined)).toMatchObject({ signal: 'SIGKILL' });
  });

  it('sends KILL before the deadline, whenever a timer that is up to the reserve late looks', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 100_000 }),
        fc.array(fc.double({ min: 0, max: 0.99, noNaN: true }), { minLength: 3, maxLength: 3 }),
        (reliableMs, lateness) => {
          const plan = planRetreat(reliableMs);
          let left = reliableMs;
          let toldAt: number | undefined;
          for (const late of lateness) {
            const { signal, nextMs } = stepAt(plan, left, toldAt === undefined ? undefined : toldAt - left);
            if (signal === 'SIGKILL') break;
            if (signal === 'SIGTERM') toldAt = left;
            left -= nextMs + late * (plan.reserveMs / 3);
          }
          expect(left).toBeGreaterThan(0);
        },
      ),
    );
  });
});
