/** Locks and points as the dashboard's server tells them. */
import type { ChartPoint, LockRow, RowHolder } from '../../../../src/dashboard/protocol.ts';

export function holder(fields: Partial<RowHolder> = {}): RowHolder {
  return {
    owner: 'f0e1d2c3-0000-4000-8000-000000000000:1',
    label: 'worker',
    host: 'host-1',
    pid: 7,
    holdCount: 1,
    endsAt: 40_000,
    leaseMs: 30_000,
    since: 10_000,
    isSeen: false,
    ...fields,
  };
}

export function row(key: string, fields: Partial<LockRow> = {}): LockRow {
  const { holders = [] } = fields;
  return {
    key,
    kind: 'lock',
    holders,
    held: holders.length,
    waiters: [],
    waiting: 0,
    ownWaiting: 0,
    token: null,
    count: null,
    free: null,
    rate: null,
    ...fields,
  };
}

export function point(at: number, fields: Partial<ChartPoint> = {}): ChartPoint {
  return {
    at,
    held: 0,
    waitedFor: 0,
    waiting: 0,
    acquired: null,
    contended: null,
    timeouts: null,
    losses: null,
    waitP50: null,
    waitP95: null,
    ...fields,
  };
}
