/**
 * Everything the page knows, as one value. It changes only through `reduce`: by what the stream tells, and by what
 * happens to the stream itself.
 */
import type {
  ChartPoint,
  Happening,
  Load,
  LockChanges,
  LockRow,
  ServerHealth,
  StreamEvents,
} from '../../dashboard/protocol.ts';

/** An event of the stream. */
export type Told = {
  [Name in keyof StreamEvents]: { type: Name; data: StreamEvents[Name] };
}[keyof StreamEvents];

/** What changes the state; `at` is the time by the page's clock. */
export type Change = (Told | { type: 'lost' } | { type: 'refused' }) & { at: number };

export interface State {
  /** `refused`: the server no longer accepts this session. */
  readonly connection: 'connecting' | 'live' | 'lost' | 'refused';
  /** When the connection was lost, by the page's clock; null while it is not. */
  readonly lostAt: number | null;
  /** What has to be added to the page's clock to get the server's. */
  readonly offsetMs: number;
  readonly title: string;
  /** Null while locks may not be freed here. */
  readonly csrf: string | null;
  readonly chartStepMs: number;
  /** By key. */
  readonly rows: ReadonlyMap<string, LockRow>;
  /** Whether the first list of all locks has come. */
  readonly isListed: boolean;
  /** Oldest first. */
  readonly points: readonly ChartPoint[];
  /** Newest first. */
  readonly timeline: readonly Happening[];
  readonly health: ServerHealth | null;
  readonly load: Load | null;
}

export const INITIAL: State = {
  connection: 'connecting',
  lostAt: null,
  offsetMs: 0,
  title: 'holdfast',
  csrf: null,
  chartStepMs: 10_000,
  rows: new Map(),
  isListed: false,
  points: [],
  timeline: [],
  health: null,
  load: null,
};

const CHARTED_MS = 3_600_000;
const MOST_HAPPENINGS = 1_000;

export function reduce(state: State, change: Change): State {
  switch (change.type) {
    case 'hello': {
      const { now, title, csrf, chartStepMs, points, timeline, health, load } = change.data;
      const told = { title, csrf, chartStepMs, points, timeline, health, load };
      return { ...state, ...told, connection: 'live', lostAt: null, offsetMs: now - change.at };
    }
    case 'locks':
      return {
        ...state,
        rows: withChanges(state.rows, change.data),
        isListed: state.isListed || change.data.whole,
        // A message is under way for some time, so the largest difference is the closest to the truth.
        offsetMs: Math.max(state.offsetMs, change.data.at - change.at),
      };
    case 'health':
      return { ...state, health: change.data };
    case 'load':
      return { ...state, load: change.data };
    case 'happened':
      if (state.timeline.some(({ id }) => id === change.data.id)) return state;
      return { ...state, timeline: [change.data, ...state.timeline].slice(0, MOST_HAPPENINGS) };
    case 'point':
      return { ...state, points: withPoint(state.points, change.data) };
    case 'lost':
    case 'refused':
      return { ...state, connection: change.type, lostAt: state.lostAt ?? change.at };
  }
}

function withChanges(rows: State['rows'], { whole, changed, gone }: LockChanges): State['rows'] {
  const next = new Map(whole ? [] : rows);
  for (const key of gone) next.delete(key);
  for (const row of changed) next.set(row.key, row);
  return next;
}

function withPoint(points: State['points'], point: ChartPoint): State['points'] {
  const oldest = point.at - CHARTED_MS;
  return [...points.filter(({ at }) => at > oldest && at < point.at), point];
}

/** The time by the server's clock. Without a connection time stands still: what is shown does not grow older. */
export function serverTime({ lostAt, offsetMs }: State, now: number): number {
  return (lostAt ?? now) + offsetMs;
}
