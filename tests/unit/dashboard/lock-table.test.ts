import { describe, expect, it } from 'vitest';
import { LockTable } from '../../../src/dashboard/sampling/lock-table.ts';
import type { Description } from '../../../src/inspect/description.ts';

interface Held {
  readonly owner?: string;
  readonly remainingMs?: number;
  readonly heldSince?: Date | null;
}

function lock({ owner = 'a', remainingMs = 30_000, heldSince = null }: Held = {}): Description {
  const holder = { owner, clientId: null, client: null, holdCount: 1, remainingMs, heldSince };
  return { key: 'k', kind: 'lock', holders: [holder] };
}

function setUp() {
  const told: string[] = [];
  const table = new LockTable(
    {
      onChanged: (key) => told.push(`changed ${key}`),
      onTaken: (key, { owner }) => told.push(`taken ${key} ${owner}`),
      onEnded: (key, { owner }, _at, isOver) =>
        told.push(`ended ${key} ${owner} ${isOver ? 'over' : 'early'}`),
    },
    () => [],
  );
  const holder = () => table.row('k')?.holders[0];
  return { table, told, holder };
}

describe('the table of locks', () => {
  it('tells of a new lock, and nothing of one that only runs down', () => {
    const { table, told, holder } = setUp();
    table.see(lock(), 1_000);
    expect(told.splice(0)).toEqual(['taken k a', 'changed k']);
    expect(holder()).toMatchObject({ endsAt: 31_000, leaseMs: 30_000, since: 1_000, isSeen: true });
    // The answer took 300 ms longer.
    table.see(lock({ remainingMs: 28_000 }), 3_300);
    table.see(lock({ remainingMs: 20_000 }), 10_900);
    expect(told).toEqual([]);
    expect(holder()).toMatchObject({ endsAt: 31_000, since: 1_000 });
  });

  it('tells of a renewal, and keeps the width of the bar', () => {
    const { table, told, holder } = setUp();
    table.see(lock({ remainingMs: 22_000 }), 1_000);
    table.see(lock({ remainingMs: 29_900 }), 3_000);
    expect(told).toEqual(['taken k a', 'changed k', 'changed k']);
    expect(holder()).toMatchObject({ endsAt: 32_900, leaseMs: 29_900 });
    table.see(lock({ remainingMs: 20_000 }), 12_900);
    expect(holder()).toMatchObject({ endsAt: 32_900, leaseMs: 29_900 });
  });

  it('has no end where there is no expiry', () => {
    const { table, holder } = setUp();
    table.see(lock({ remainingMs: Number.POSITIVE_INFINITY }), 1_000);
    expect(holder()).toMatchObject({ endsAt: null, leaseMs: null });
    table.miss('k', 2_000);
  });

  it('takes the word of a client for since when', () => {
    const { table, told, holder } = setUp();
    table.see(lock(), 5_000);
    table.see(lock({ heldSince: new Date(4_000), remainingMs: 29_000 }), 6_000);
    expect(holder()).toMatchObject({ since: 4_000, isSeen: false });
    table.see(lock({ heldSince: new Date(4_001), remainingMs: 28_000 }), 7_000);
    // The record of its client has expired.
    table.see(lock({ remainingMs: 27_000 }), 8_000);
    expect(holder()).toMatchObject({ since: 4_000, isSeen: false });
    expect(told).toEqual(['taken k a', 'changed k', 'changed k']);
  });

  it('tells how a hold ended', () => {
    const { table, told } = setUp();
    table.see(lock(), 1_000);
    table.see(lock({ owner: 'b', remainingMs: 1_000 }), 2_000);
    table.miss('k', 3_000);
    table.miss('k', 4_000);
    expect(told).toEqual([
      'taken k a',
      'changed k',
      'ended k a early',
      'taken k b',
      'changed k',
      'ended k b over',
      'changed k',
    ]);
    expect(table.has('k')).toBe(false);
  });

  it('names the locks that were looked at longest ago', () => {
    const { table } = setUp();
    for (const [i, key] of ['a', 'b', 'c'].entries()) table.see({ ...lock(), key } as Description, 1_000 + i);
    table.see({ ...lock(), key: 'a' } as Description, 2_000);
    expect(table.lookedAtBefore(1_500, 10)).toEqual(['b', 'c']);
    expect(table.lookedAtBefore(5_000, 2)).toEqual(['b', 'c']);
    expect(table.lookedAtBefore(500, 10)).toEqual([]);
    expect(table.totals()).toEqual({ held: 3, waitedFor: 0, waiting: 0 });
    table.see({ ...lock(), key: 'a' } as Description, 3_000, 2);
    expect(table.totals()).toEqual({ held: 3, waitedFor: 1, waiting: 2 });
  });

  it('names ten of many holders, and counts all', () => {
    const { table } = setUp();
    const permits = Array.from({ length: 40 }, (_, i) => ({ id: `p${i}`, remainingMs: 1, heldSince: null }));
    table.see({ key: 'k', kind: 'permitSemaphore', freePermits: 1, takenPermits: 40, permits }, 1_000);
    expect(table.row('k')).toMatchObject({ held: 40, free: 1 });
    expect(table.row('k')?.holders).toHaveLength(10);
  });
});
