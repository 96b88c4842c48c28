/**
 * A history put in order: its calls with their outcomes, its holds with what became of them, its faults, stalls and
 * deaths. How it is read from events is left to `reading.ts`; what was allowed, to the rules.
 */
import type { HistoryEvent, RecordedCall, RecordedKind } from './event.ts';
import { NO_SPANS, type Spans } from './spans.ts';

const SHORTEST_LEASE_NS = 200e6;

/** An invocation and what it came to. */
export interface Call {
  readonly invoke: HistoryEvent;
  outcome?: HistoryEvent;
}

/** A grant and everything that is known of its hold. */
export interface HoldStory {
  readonly id: string;
  /** The acquisition that brought it. */
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
  /** Until when the holder may rely on it, as last recorded, and when that was. */
  deadlineNs: number;
  deadlineReadNs: number;
  /** The lease that was asked for, or the most time that a reading of the deadline left, whichever is longer. */
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

/** What concerns one key. */
export interface KeyDigest {
  readonly key: string;
  readonly holds: HoldStory[];
  readonly calls: Record<RecordedCall, Call[]>;
  /** How much there is to share, from when on. */
  readonly sets: HistoryEvent[];
  /** What the server listed as waiting. */
  readonly queues: HistoryEvent[];
  /** What was found at the end. */
  readonly lefts: HistoryEvent[];
}

/** What a reading of the events finds. */
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
  /** No lease lasted longer on the server. */
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

  /** When the process stood still. */
  stallsOf(proc: string): Spans {
    return this.#parts.stalls.get(proc) ?? NO_SPANS;
  }

  /** When the process died; never is `Infinity`. */
  diedNs(proc: string): number {
    return this.#parts.deaths.get(proc) ?? Number.POSITIVE_INFINITY;
  }

  /** When the process last recorded anything. */
  lastEventNs(proc: string): number {
    return this.#parts.lastEventsNs.get(proc) ?? this.startNs;
  }

  /** When a call was over: at its outcome, or with its process. */
  endOf({ invoke, outcome }: Call): number {
    return outcome?.atNs ?? this.diedNs(invoke.proc);
  }

  /** Milliseconds since the start, for people. */
  at(ns: number): string {
    return Number.isFinite(ns) ? `${((ns - this.startNs) / 1e6).toFixed(1)} ms` : 'the end';
  }
}

/**
 * A holder relies on a lease for less time than the server gives it: on half of it where leases are short, and it
 * begins when the grant was sent for, which some grants tell better than others.
 */
function longestLease(holds: readonly HoldStory[]): number {
  let longestNs = 0;
  for (const { leaseNs } of holds) if (Number.isFinite(leaseNs)) longestNs = Math.max(longestNs, leaseNs);
  return 2 * longestNs + SHORTEST_LEASE_NS;
}
