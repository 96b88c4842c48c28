/**
 * Reduces a history to the events of one violation, and prints them, one line for each event.
 */
import type { Call, Digest, KeyDigest } from './digest.ts';
import type { HistoryEvent } from './event.ts';
import { digestOf } from './reading.ts';
import { Sampler } from './samples.ts';
import { shrinkSample } from './search-samples.ts';
import { type CheckBounds, DEFAULT_BOUNDS, type Violation } from './verdict.ts';

/** More lines would not help the reader. */
const MOST_EVENTS = 200;

/**
 * The events of a violation, in order of time: those of its holds and calls, and the faults, stalls, deaths and forced
 * releases of that time.
 *
 * @param bounds the bounds that the history was checked with
 */
export function shrinkHistory(
  events: readonly HistoryEvent[],
  violation: Violation,
  bounds: Partial<CheckBounds> = {},
): HistoryEvent[] {
  return new Shrinking(digestOf(events), violation, { ...DEFAULT_BOUNDS, ...bounds }).events();
}

/**
 * A violation as text: what is wrong, and below it the events that show it.
 *
 * @param bounds the bounds that the history was checked with
 */
export function describeViolation(
  events: readonly HistoryEvent[],
  violation: Violation,
  bounds: Partial<CheckBounds> = {},
): string {
  const digest = digestOf(events);
  const concerned = new Shrinking(digest, violation, { ...DEFAULT_BOUNDS, ...bounds }).events();
  const shown = concerned.slice(0, MOST_EVENTS);
  const width = Math.max(0, ...shown.map((event) => placeOf(event).length));
  const lines = shown.map((event) => {
    return `  ${digest.at(event.atNs).padStart(12)}  ${placeOf(event).padEnd(width)}  ${describeEvent(digest, event)}`;
  });
  const more = concerned.length - shown.length;
  if (more > 0) lines.push(`  and ${more} events more`);
  return [`${violation.kind}: ${violation.text}`, ...lines].join('\n');
}

class Shrinking {
  readonly #digest: Digest;
  readonly #violation: Violation;
  readonly #bounds: CheckBounds;

  constructor(digest: Digest, violation: Violation, bounds: CheckBounds) {
    this.#digest = digest;
    this.#violation = violation;
    this.#bounds = bounds;
  }

  events(): HistoryEvent[] {
    const { fromNs, toNs } = this.#violation;
    const calls = this.#calls();
    const holds = new Set(this.#violation.holds);
    const ofCalls = new Set(calls.flatMap(({ invoke, outcome }) => [invoke, outcome]));
    return this.#digest.events.filter((event) => {
      if (ofCalls.has(event)) return true;
      const isThen = event.atNs >= fromNs && event.atNs <= toNs;
      if (event.hold !== undefined && holds.has(event.hold)) return isThen || event.op !== 'held';
      return event.op === 'fault' ? this.#isDuring(event) : this.#isAround(event, isThen);
    });
  }

  /** The calls concerned, besides those of the holds. */
  #calls(): Call[] {
    const { key, kind, fromNs, toNs, holds, procs } = this.#violation;
    const digest = this.#digest.keys.get(key);
    if (digest === undefined) return [];
    if (kind === 'not-linearizable') return this.#unexplained(digest);
    const named = digest.holds.filter(({ id }) => holds.includes(id)).map(({ call }) => call);
    const isThen = (call: Call) => call.invoke.atNs <= toNs && this.#digest.endOf(call) >= fromNs;
    if (kind === 'latch-opened-early') {
      return [
        ...digest.calls.countDown.filter(({ invoke }) => invoke.atNs <= toNs),
        ...digest.calls.await.filter(isThen),
      ];
    }
    const all = Object.values(digest.calls).flat();
    const forces = digest.calls.force.filter(isThen);
    if (kind === 'rate-exceeded') return all.filter(isThen);
    if (named.length > 0) return [...named, ...forces];
    return [...all.filter((call) => procs.includes(call.invoke.proc) && isThen(call)), ...forces];
  }

  #unexplained(key: KeyDigest): Call[] {
    const { fromNs, toNs } = this.#violation;
    const sample = new Sampler(this.#digest, this.#bounds).cut(key, fromNs, toNs);
    if (sample === undefined) return [];
    const { parts } = shrinkSample(sample, this.#bounds.searchSteps);
    return parts.flatMap(({ call, hold }) => (hold?.release === undefined ? [call] : [call, hold.release]));
  }

  /** The beginning or the end of a fault that was active at the time. */
  #isDuring({ atNs, what }: HistoryEvent): boolean {
    const { fromNs, toNs } = this.#violation;
    return this.#digest.faults.some(
      (fault) =>
        fault.name === what &&
        (fault.fromNs === atNs || fault.toNs === atNs) &&
        fault.fromNs <= toNs &&
        fault.toNs >= fromNs,
    );
  }

  /** Incidents of the processes, or of the whole key. */
  #isAround(event: HistoryEvent, isThen: boolean): boolean {
    const { key, procs, fromNs, toNs } = this.#violation;
    if (event.op === 'died') return procs.includes(event.proc) && event.atNs <= toNs;
    if (event.op === 'stalled') {
      return procs.includes(event.proc) && (event.fromNs ?? event.atNs) <= toNs && event.atNs >= fromNs;
    }
    if (event.key !== key) return false;
    return event.op === 'set' || event.op === 'left' || (event.op === 'queue' && isThen);
  }
}

function placeOf({ proc, worker }: HistoryEvent): string {
  return worker === '' ? proc : `${proc}/${worker}`;
}

function describeEvent(digest: Digest, event: HistoryEvent): string {
  const { op, type, key, hold, what, deadlineNs, token, permits, count, intervalMs, queue, fromNs } = event;
  if (op === 'fault') return `fault ${what} ${type === 'invoke' ? 'begins' : 'is over'}`;
  if (op === 'died') return 'died';
  if (op === 'stalled') return `stood still since ${digest.at(fromNs ?? event.atNs)}`;
  const details = [
    hold,
    permits === undefined || (permits === 1 && isCall(op)) ? undefined : `${permits} permits`,
    count === undefined ? undefined : `count ${count}`,
    intervalMs === undefined ? undefined : `in ${intervalMs} ms`,
    token === undefined ? undefined : `token ${token}`,
    deadlineNs === undefined ? undefined : `until ${digest.at(deadlineNs)}`,
    queue === undefined ? undefined : queue.join(', '),
    what,
  ].filter((detail) => detail !== undefined);
  const about = details.length === 0 ? '' : ` (${details.join(', ')})`;
  return `${op} "${key}"${type === 'info' && !isCall(op) ? '' : ` ${type}`}${about}`;
}

function isCall(op: HistoryEvent['op']): boolean {
  return (
    op === 'acquire' ||
    op === 'release' ||
    op === 'force' ||
    op === 'countDown' ||
    op === 'await' ||
    op === 'write'
  );
}
