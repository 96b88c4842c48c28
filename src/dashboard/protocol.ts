/**
 * What the dashboard's server tells its page: JSON in the events of one stream, and the answers to a few requests.
 * Times are milliseconds since 1970 by the dashboard's clock; the page corrects for its own.
 *
 * - `GET api/stream`: server-sent events; the event's name is a key of `StreamEvents`, its data that type as JSON.
 *   `hello` comes first, then `locks` with `whole: true`, then changes.
 * - `GET api/lock?name=…`: `LockPage`.
 * - `POST api/free` with `FreeRequest` as JSON and the header `x-holdfast-csrf`: `FreeAnswer`.
 *
 * A request that is refused is answered with `Refusal` and a status of 400 or above; one without authorisation with
 * status 401 and plain text.
 */
import type { Description } from '../inspect/description.ts';

/** Where a figure or an entry comes from: the clients in the dashboard's own process, or looks at the server. */
export type Source = 'events' | 'sampling';

export interface StreamEvents {
  hello: Hello;
  locks: LockChanges;
  health: ServerHealth;
  /** The newest entry of the timeline. */
  happened: Happening;
  /** The newest point of the charts; points come every `chartStepMs`. */
  point: ChartPoint;
  /** What the dashboard costs the server. */
  load: Load;
}

export interface Hello {
  readonly now: number;
  readonly title: string;
  /** Whether locks may be freed here, and the token that such a request must carry. */
  readonly csrf: string | null;
  readonly chartStepMs: number;
  /** The last hour, oldest first. */
  readonly points: readonly ChartPoint[];
  /** The latest entries, newest first. */
  readonly timeline: readonly Happening[];
  readonly health: ServerHealth | null;
  readonly load: Load;
}

export interface LockChanges {
  readonly at: number;
  /** Whether `changed` is everything there is. */
  readonly whole: boolean;
  readonly changed: readonly LockRow[];
  /** The keys of locks that are gone. */
  readonly gone: readonly string[];
}

/** A lock or counter as the list shows it. */
export interface LockRow {
  readonly key: string;
  readonly kind: Description['kind'];
  readonly holders: readonly RowHolder[];
  /** How many hold it or its permits; `holders` has the first ten only. */
  readonly held: number;
  /** The first hundred, in order: by sampling the queue of a fair lock, by events the calls in `ownWaiting` of others. */
  readonly waiters: readonly { readonly owner: string; readonly label: string | null }[];
  /**
   * By sampling: how many are in the queue of a fair lock, and how many clients listen on the channel of another lock.
   * Null where nothing tells: nothing is held, the kind has no channel, or the server does not permit to count.
   */
  readonly waiting: number | null;
  /** By events: how many calls of the dashboard's client wait. */
  readonly ownWaiting: number;
  /** The last fencing token, the count of a latch or counter, free permits, the rate. */
  readonly token: number | null;
  readonly count: number | null;
  readonly free: number | null;
  readonly rate: { readonly permits: number; readonly intervalMs: number } | null;
}

export interface RowHolder {
  /** The owner field or the permit id: what a request to free it names. */
  readonly owner: string;
  readonly label: string | null;
  readonly host: string | null;
  readonly pid: number | null;
  readonly holdCount: number;
  /** When the lease ends if nobody renews it; null without an expiry. */
  readonly endsAt: number | null;
  /** The longest rest of this lease that was seen: the full width of its bar. */
  readonly leaseMs: number | null;
  /** Since when; `isSeen`: the holder did not say, and the dashboard saw it first then. */
  readonly since: number;
  readonly isSeen: boolean;
}

/** An entry of the timeline, or of a lock's history. */
export interface Happening {
  readonly id: number;
  readonly at: number;
  readonly what:
    | 'taken'
    | 'released'
    | 'gone'
    | 'lost'
    | 'atRisk'
    | 'stalled'
    | 'warning'
    | 'error'
    | 'freed';
  readonly key: string | null;
  readonly who: string | null;
  readonly text: string;
  readonly source: Source;
}

/** What happened in one step of the charts. Null where nothing tells. */
export interface ChartPoint {
  readonly at: number;
  /**
   * By sampling: locks that are held, locks that have waiters, and waiters in all, as `LockRow.waiting` counts them.
   * Null while nobody had asked for samples.
   */
  readonly held: number | null;
  readonly waitedFor: number | null;
  readonly waiting: number | null;
  /**
   * By events: calls that ended, those that had to wait, those that timed out, holds that were lost. Null as long as
   * no client of this process has told anything: `holdfast dashboard` has no such client.
   */
  readonly acquired: number | null;
  readonly contended: number | null;
  readonly timeouts: number | null;
  readonly losses: number | null;
  /** By events: how long calls waited, in ms. */
  readonly waitP50: number | null;
  readonly waitP95: number | null;
}

export interface ServerHealth {
  readonly at: number;
  readonly status: 'ok' | 'degraded' | 'down';
  readonly latencyMs: number | null;
  readonly topology: string;
  readonly server: string;
  readonly nodes: readonly ServerNode[];
  readonly problems: readonly {
    readonly code: string;
    readonly message: string;
    readonly remedy: string | null;
  }[];
}

export interface ServerNode {
  readonly node: string;
  readonly latencyMs: number | null;
  readonly replicas: readonly {
    readonly node: string;
    readonly state: string;
    readonly lagBytes: number | null;
  }[];
}

/** What the dashboard asks of the server. */
export interface Load {
  /** Keys that the walk under way has seen, of how many that the walk before it saw. */
  readonly scanned: number;
  readonly keys: number;
  /** How long the last walk through the key space took; null before its end. */
  readonly sweepMs: number | null;
  /** In the last seconds. */
  readonly commandsPerSecond: number;
  readonly maxCommandsPerSecond: number;
  /** Whether the server permits to count the clients that listen on a channel. */
  readonly countsListeners: boolean;
}

/** One lock, whole, with what happened to it. */
export interface LockPage {
  readonly row: LockRow | null;
  readonly history: readonly Happening[];
}

export interface FreeRequest {
  readonly key: string;
  /** The holder that the person saw: only that one is freed. */
  readonly owner: string;
}

/** Whether it was freed; `false`: it held nothing any more. */
export interface FreeAnswer {
  readonly freed: boolean;
}

/** Why a request was refused. */
export interface Refusal {
  readonly error: string;
}

/** An entry of the audit log: an attempt has two. */
export interface AuditEntry {
  /** `intent`: before anything is freed; `outcome`: afterwards. */
  readonly step: 'intent' | 'outcome';
  readonly at: string;
  readonly key: string;
  readonly owner: string;
  readonly label: string | null;
  /** Null in an intent. */
  readonly freed: boolean | null;
  /** Why it is not known whether it was freed; null if it is known. */
  readonly error: string | null;
  /** Who asked, as the application's authentication says. */
  readonly by: string | null;
}
