/**
 * An hour in the life of a small shop's locks, as the dashboard's server would tell it. The same every time, so that
 * pictures change only when the page does.
 */
import type {
  ChartPoint,
  Happening,
  Hello,
  LockPage,
  LockRow,
  RowHolder,
  ServerHealth,
} from '../src/dashboard/protocol.ts';

/** The moment of the pictures. */
export const NOW = Date.UTC(2026, 4, 12, 9, 41, 20);

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const STEP_MS = 10 * SECOND;
const LEASE_MS = 30 * SECOND;

const PROCESSES = {
  'billing-1': { host: 'billing-7d9c', pid: 18, id: '5b2c8a40-61f3-4a0e-9a51-0c6f0d2b7e11' },
  'billing-2': { host: 'billing-x2lq', pid: 18, id: '0f9d7c1e-33ab-4f4c-8b7d-6d1a2f5e9c02' },
  'web-1': { host: 'web-5c8f', pid: 24, id: 'c1a7e5d2-9f10-4c8a-a2b3-4e5f6a7b8c93' },
  'web-2': { host: 'web-t4mz', pid: 24, id: '7e3b9d54-2c61-4d7f-b8e0-1f2a3b4c5d64' },
  'web-3': { host: 'web-k9vw', pid: 24, id: 'a94f2e67-8d05-4b1c-93e7-5a6b7c8d9e05' },
  scheduler: { host: 'scheduler-0', pid: 7, id: '2d8e6f13-7b49-4e5a-8c1d-9e0f1a2b3c46' },
  importer: { host: 'importer-b6hn', pid: 31, id: 'e65c1f78-4a92-4938-9f06-7d8e9fa0b1c7' },
} as const;
type Label = keyof typeof PROCESSES;

/** A holder that has the lock for `heldMs`, with so much of its lease left. */
function holder(label: Label, heldMs: number, leftMs: number, serial = 1): RowHolder {
  const { host, pid, id } = PROCESSES[label];
  return {
    owner: `${id}:${serial}`,
    label,
    host,
    pid,
    holdCount: 1,
    endsAt: NOW + leftMs,
    leaseMs: LEASE_MS,
    since: NOW - heldMs,
    isSeen: false,
  };
}

/** A client of Redisson, which says neither its name nor since when it holds. */
function javaHolder(heldMs: number, leftMs: number): RowHolder {
  const unknown = { label: null, host: null, pid: null, isSeen: true };
  return { ...holder('web-1', heldMs, leftMs), ...unknown, owner: '81d4fae7-dec1-41d0-a765-00a0c91e6bf6:57' };
}

function waiter(label: Label, serial: number): LockRow['waiters'][number] {
  return { owner: `${PROCESSES[label].id}:${serial}`, label };
}

function row(key: string, kind: LockRow['kind'], fields: Partial<LockRow> = {}): LockRow {
  const { holders = [], waiters = [] } = fields;
  const counts = {
    held: holders.length,
    waiting: waiters.length,
    ownWaiting: kind === 'fair' ? 0 : waiters.length,
  };
  return {
    key,
    kind,
    holders,
    waiters,
    token: null,
    count: null,
    free: null,
    rate: null,
    ...counts,
    ...fields,
  };
}

/** The lock that has a picture of its own. */
export const SHOWN_LOCK = 'stock:warehouse-2';

const ROWS: readonly LockRow[] = [
  row('cron:cleanup-sessions', 'lock', { holders: [holder('scheduler', 48 * SECOND, 22_000)] }),
  row('invoice:20931', 'lock', { holders: [holder('billing-1', 3 * SECOND, 27_000)] }),
  row('invoice:20932', 'lock', {
    holders: [holder('billing-2', 9 * SECOND, 21_000)],
    waiters: [waiter('billing-1', 4)],
  }),
  row('ledger:2026-05', 'fenced', { holders: [holder('billing-2', 94 * SECOND, 28_000, 2)], token: 4_182 }),
  row('leader:scheduler', 'lock', { holders: [holder('scheduler', 62 * 60 * MINUTE, 24_000, 3)] }),
  row('order:88120', 'lock', { holders: [javaHolder(6 * SECOND, 24_000)] }),
  row('order:88123', 'lock', { holders: [holder('web-3', 2 * SECOND, 28_000)] }),
  row('payment-provider', 'permitSemaphore', {
    holders: [holder('web-1', 4 * SECOND, 26_000, 8), holder('web-2', 2 * SECOND, 28_000, 5)],
    free: 3,
  }),
  row('price-list', 'readWrite', {
    holders: [
      holder('web-1', 21 * SECOND, 25_000, 9),
      holder('web-2', 12 * SECOND, 23_000, 6),
      holder('web-3', 5 * SECOND, 26_000, 7),
    ],
  }),
  row('report:nightly', 'lock', { holders: [holder('importer', 11 * MINUTE + 8_000, 5_200)] }),
  row('search-index', 'simple', { holders: [holder('importer', 37 * SECOND, 19_000, 2)] }),
  row('sms-gateway', 'rateLimiter', { rate: { permits: 50, intervalMs: 1_000 }, free: 38 }),
  row(SHOWN_LOCK, 'fair', {
    holders: [holder('web-2', 14 * SECOND, 21_000, 11)],
    waiters: [waiter('web-1', 12), waiter('importer', 6), waiter('web-3', 10)],
  }),
  row('warm-up:workers', 'latch', { count: 2 }),
];

function happening(
  id: number,
  agoMs: number,
  what: Happening['what'],
  key: string | null,
  who: Label | null,
  text: string,
  source: Happening['source'] = 'events',
): Happening {
  return { id, at: NOW - agoMs, what, key, who, text, source };
}

const TAKEN = 'holds it';
const RELEASED = 'no longer holds it';

const TIMELINE: readonly Happening[] = [
  happening(
    41,
    5 * SECOND,
    'atRisk',
    'report:nightly',
    'importer',
    'a renewal failed, 10204 ms are left: Command timed out',
  ),
  happening(30, 22 * MINUTE, 'lost', 'invoice:20877', 'billing-1', 'lost: suspended'),
  happening(22, 37 * MINUTE, 'freed', 'cron:reindex', 'scheduler', 'freed from the dashboard by dana'),
];

const HISTORY: readonly Happening[] = [
  happening(40, 14 * SECOND, 'taken', SHOWN_LOCK, 'web-2', TAKEN, 'sampling'),
  happening(39, 14 * SECOND, 'released', SHOWN_LOCK, 'web-3', RELEASED, 'sampling'),
  happening(38, 16 * SECOND, 'taken', SHOWN_LOCK, 'web-3', TAKEN, 'sampling'),
  happening(37, 17 * SECOND, 'released', SHOWN_LOCK, 'importer', RELEASED, 'sampling'),
  happening(36, 22 * SECOND, 'taken', SHOWN_LOCK, 'importer', TAKEN, 'sampling'),
  happening(33, 12 * MINUTE, 'lost', SHOWN_LOCK, 'web-1', 'lost: suspended'),
];

const HEALTH: ServerHealth = {
  at: NOW,
  status: 'ok',
  latencyMs: 0.4,
  topology: 'Sentinel',
  server: 'Redis 7.4.2',
  nodes: [
    {
      node: '10.0.4.11:6379',
      latencyMs: 0.4,
      replicas: [
        { node: '10.0.4.12:6379', state: 'online', lagBytes: 0 },
        { node: '10.0.4.13:6379', state: 'online', lagBytes: 1_480 },
      ],
    },
  ],
  problems: [],
};

/** A fraction that looks like chance, the same for the same number. */
function noise(seed: number): number {
  const value = Math.sin(seed * 12.9898) * 43_758.5453;
  return value - Math.floor(value);
}

/** A calm hour with a rush in its middle. */
function pointAt(index: number, count: number): ChartPoint {
  const rush = Math.exp(-(((index - count * 0.55) / 28) ** 2));
  const acquired = Math.round(70 + 14 * Math.sin(index / 30) + 90 * rush + 14 * noise(index));
  return {
    at: NOW - (count - 1 - index) * STEP_MS,
    held: Math.round(11 + 2 * Math.sin(index / 30) + 9 * rush + 2 * noise(index + 0.3)),
    waitedFor: Math.round(1.5 + 4 * rush + noise(index + 0.9)),
    waiting: Math.round(2.5 + 11 * rush + 2 * noise(index + 0.7)),
    acquired,
    contended: Math.round(acquired * (0.05 + 0.2 * rush)),
    timeouts: rush > 0.5 && index % 9 === 0 ? 1 + (index % 2) : 0,
    losses: index === count - 133 ? 1 : 0,
    waitP50: 1.5 + 6 * rush + noise(index + 0.4),
    waitP95: 22 + 190 * rush + 16 * noise(index + 0.1),
  };
}

export function sampleHello(): Hello {
  const count = 360;
  return {
    now: NOW,
    title: 'Shop locks',
    csrf: 'sample',
    chartStepMs: STEP_MS,
    points: Array.from({ length: count }, (_, index) => pointAt(index, count)),
    timeline: TIMELINE,
    health: HEALTH,
    load: {
      scanned: 1_240,
      keys: 3_106,
      sweepMs: 3_100,
      commandsPerSecond: 24,
      maxCommandsPerSecond: 1_000,
      countsListeners: true,
    },
  };
}

export function sampleRows(): readonly LockRow[] {
  return ROWS;
}

export function samplePage(key: string): LockPage {
  return { row: ROWS.find((one) => one.key === key) ?? null, history: key === SHOWN_LOCK ? HISTORY : [] };
}
