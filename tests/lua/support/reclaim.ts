/**
 * What every reclaiming script must do, written once: it gives back only within the grace, only to who was not
 * ended, and never what is somebody else's.
 *
 * The shared server was never promoted, so its grace is what is left of `graceMs` since it started: a long one
 * runs, a short one is over.
 */
import { describe, expect, it } from 'vitest';
import { eventually } from '../../harness/wait.ts';
import { expectRunning, type ScriptBench } from './script-bench.ts';

export const RUNNING_GRACE_MS = 1_000_000_000;
export const PAST_GRACE_MS = 1;

/** Resolves when the shortest grace is over for sure: the uptime is told in seconds, and may be one ahead. */
export async function whenSettled(bench: ScriptBench): Promise<void> {
  await eventually(async () => {
    const info = String(await bench.command('INFO', 'server'));
    return Number(/uptime_in_seconds:(\d+)/.exec(info)?.[1]) >= 2;
  });
}

export interface ReclaimTerms {
  readonly name: string;
  readonly owner: string;
  readonly ended: string;
  readonly guard: string;
  readonly leaseMs: number;
  readonly graceMs: number;
}

export interface Reclaiming {
  readonly title: string;
  reclaim(terms: ReclaimTerms): Promise<{ status: string }>;
  /** Puts there what another holder would have. */
  plantOther(name: string): Promise<void>;
  /** Whether the owner holds it, by hand-written commands. */
  isHeldBy(name: string, owner: string): Promise<boolean>;
}

export function describeReclaim(
  bench: ScriptBench,
  { title, reclaim, plantOther, isHeldBy }: Reclaiming,
): void {
  describe(title, () => {
    function set(graceMs: number): ReclaimTerms {
      const name = bench.name();
      const guard = `holdfast_guard:{${name}}`;
      bench.expectImmortal(guard);
      return {
        name,
        owner: 'c:1',
        ended: `redisson_unlock_latch:{${name}}:c:1`,
        guard,
        leaseMs: 60_000,
        graceMs,
      };
    }

    it('reclaims a forgotten hold within the grace, with its lease, also when repeated', async () => {
      const terms = set(RUNNING_GRACE_MS);
      expect(await reclaim(terms)).toEqual({ status: 'held' });
      expect(await isHeldBy(terms.name, 'c:1')).toBe(true);
      expectRunning(await bench.pttl(terms.name), 60_000);
      expect(await reclaim({ ...terms, leaseMs: 90_000 })).toEqual({ status: 'held' });
      expectRunning(await bench.pttl(terms.name), 90_000);
    });

    it('reclaims nothing once the grace has ended', async () => {
      const terms = set(PAST_GRACE_MS);
      await whenSettled(bench);
      expect(await reclaim(terms)).toEqual({ status: 'lost' });
      expect(await bench.exists(terms.name)).toBe(false);
    });

    it('reclaims nothing for an owner that has ended', async () => {
      const terms = set(RUNNING_GRACE_MS);
      await bench.command('SET', terms.ended, 'lost', 'PX', 60_000);
      expect(await reclaim(terms)).toEqual({ status: 'lost' });
      expect(await bench.exists(terms.name)).toBe(false);
    });

    it("does not change another owner's hold, and reports it", async () => {
      const terms = set(RUNNING_GRACE_MS);
      await plantOther(terms.name);
      expect(await reclaim(terms)).toEqual({ status: 'taken' });
      expect(await isHeldBy(terms.name, 'c:1')).toBe(false);
      expect(await bench.exists(terms.name)).toBe(true);
    });

    it('confirms a present hold, whatever the grace', async () => {
      const terms = set(RUNNING_GRACE_MS);
      await reclaim(terms);
      expect(await reclaim({ ...terms, graceMs: PAST_GRACE_MS })).toEqual({ status: 'held' });
    });
  });
}
