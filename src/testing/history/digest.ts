/**
 * An indexed history: calls with their outcomes, holds with their ends, faults, stalls and deaths. `reading.ts` builds
 * it from events; the rules decide what was allowed.
 */
import type { HistoryEvent, RecordedCall, RecordedKind } from './event.ts';
import { NO_SPANS, type Spans } from './spans.ts';

const SHORTEST_LEASE_NS = 200e6;

/** An invocation and its outcome. */
export interface Call {
  readonly invoke: HistoryEvent;
  outcome?: HistoryEvent;
}

/** A grant and everything known about its hold. */
export interface HoldStory {
  readonly id: string;
  /** The acquisition that was granted. */
  readonly call: Call;
  readonly key: string;
  readonly kind: RecordedKind;
  readonly proc: string;
  readonly worker: string;
  /** Handles of one party may re-enter; parties of different processes are never the same. */
  readonly party: string;
  readonly owner: string | undefined;
  readonly token: number | undefined;
  readonly permits: number;
  readonly invokedNs: number;
  readonly grantedNs: number;
  /** The holder's deadline as last recorded, and when it was recorded. */
  deadlineNs: number;
  deadlineReadNs: number;
  /** The requested lease, or the longest time left at a reading of the deadline, whichever is longer. */
  leaseNs: number;
  lost?: HistoryEvent;
  release?: Call;
}

export interface FaultSpan {
  readonly name: string;
  readonly fromNs: number;
  toNs: number;
  readonly removesHolds: boolean;
  readonly procs: readonly string[] | undefined;
}

/** The events of one key. */
export interface KeyDigest {
  readonly key: string;
  readonly holds: HoldStory[];
  readonly calls: Record<RecordedCall, Call[]>;
  /** The capacity over time. */
  readonly sets: HistoryEvent[];
  /** The server's lists of waiters. */
  readonly queues: HistoryEvent[];
  /** What was left at the end. */
  readonly lefts: HistoryEvent[];
}

/** The result of reading the events. */
export interface DigestParts {
  readonly events: readonly HistoryEvent[];
  readonly calls: readonly Call[];
  readonly holds: readonly HoldStory[];
  readonly keys: ReadonlyMap<string, KeyDigest>;
  readonly faults: readonly FaultSpan[];
  readonly deaths: ReadonlyMap<string, number>;
  readonly stalls: ReadonlyMap<string, Spans>;
  readonly lastEventsNs: ReadonlyMap<string, number>;
}

export class Digest {
  readonly events: readonly HistoryEvent[];
  readonly startNs: number;
  readonly endNs: number;
  readonly calls: readonly Call[];
  readonly holds: readonly HoldStory[];
  readonly keys: ReadonlyMap<string, KeyDigest>;
  readonly faults: readonly FaultSpan[];
  /** An upper bound for every lease on the server. */
  readonly longestLeaseNs: number;
  readonly #parts: DigestParts;

  constructor(parts: DigestParts) {
    this.#parts = parts;
    this.events = parts.events;
    this.startNs = parts.events[0]?.atNs ?? 0;
    this.endNs = parts.events.at(-1)?.atNs ?? 0;
    this.calls = parts.calls;
    this.holds = parts.holds;
    this.keys = parts.keys;
    this.faults = parts.faults;
    this.longestLeaseNs = longestLease(parts.holds);
  }

  /** When the process was stalled. */
  stallsOf(proc: string): Spans {
    return this.#parts.stalls.get(proc) ?? NO_SPANS;
  }

  /** When the process died; `Infinity` if it did not. */
  diedNs(proc: string): number {
    return this.#parts.deaths.get(proc) ?? Number.POSITIVE_INFINITY;
  }

  /** When the process last recorded an event. */
  lastEventNs(proc: string): number {
    return this.#parts.lastEventsNs.get(proc) ?? this.startNs;
  }

  /** When a call ended: at its outcome, or with its process. */
  endOf({ invoke, outcome }: Call): number {
    return outcome?.atNs ?? this.diedNs(invoke.proc);
  }

  /** Milliseconds since the start, as text. */
  at(ns: number): string {
    return Number.isFinite(ns) ? `${((ns - this.startNs) / 1e6).toFixed(1)} ms` : 'the end';
  }
}

/**
 * A holder relies on a lease for less time than the server grants: on half of a short lease. It also counts from the
 * moment the request was sent, which some grants record more exactly than others.
 */
function longestLease(holds: readonly HoldStory[]): number {
  let longestNs = 0;
  for (const { leaseNs } of holds) if (Number.isFinite(leaseNs)) longestNs = Math.max(longestNs, leaseNs);
  return 2 * longestNs + SHORTEST_LEASE_NS;
}
