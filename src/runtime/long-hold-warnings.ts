/**
 * Warns of holds and waits that last too long, once for each, with the stack of the call that began it.
 *
 * Exists only where an option asks for it. One timer serves all holds and waits of a client: all holds have one limit,
 * and all waits have one, so each list is in order of due time.
 */
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CancelTimer, Clock } from '../clock.ts';
import type { Report } from '../events.ts';

export interface LongHoldLimits {
  /** `Infinity`: no limit. */
  readonly heldMs: number;
  readonly waitMs: number;
}

/** A hold, a permit, or a call that waits. Its owner field may be unknown before it asks the server. */
export interface Lasting {
  readonly name: string;
  readonly owner?: string | undefined;
}

/** Where a call was made. */
interface Trace {
  readonly stack?: string;
}

interface Since {
  readonly at: number;
  readonly trace: Trace;
}

/** Frames of this package say nothing to users, and the frames of the caller are behind them. */
const OWN_PLACES = placesOf(import.meta.url);
const MOST_FRAMES = 40;

/** The folder above a module, as stacks name it. A CommonJS module has a path, and one inside a bundle nothing. */
function placesOf(module: string | undefined): string[] {
  if (module === undefined) return [];
  const folder = new URL('..', module.startsWith('file:') ? module : pathToFileURL(module));
  return [folder.href, fileURLToPath(folder)];
}

export class LongHoldWarnings {
  readonly #clock: Clock;
  readonly #report: Report;
  readonly #limits: LongHoldLimits;
  /** Calls that are not yet reported. */
  readonly #waits = new Map<Lasting, Since>();
  readonly #holds = new Map<Lasting, Since>();
  /** Of all calls: one that waited for too long may hold for too long after that. */
  readonly #traces = new WeakMap<Lasting, Trace>();
  #cancelTimer: CancelTimer | undefined;
  #firesAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, report: Report, limits: LongHoldLimits) {
    this.#clock = clock;
    this.#report = report;
    this.#limits = limits;
  }

  /** A call begins. */
  asks(call: Lasting): void {
    const trace = traceOfCaller();
    this.#traces.set(call, trace);
    if (this.#limits.waitMs === Number.POSITIVE_INFINITY) return;
    this.#waits.set(call, { at: this.#clock.now(), trace });
    this.#arm();
  }

  /** The call got what it asked for: one hold, several permits, or nothing that is held. */
  granted(call: Lasting, value: unknown): void {
    const trace = this.#traces.get(call);
    if (trace === undefined || this.#limits.heldMs === Number.POSITIVE_INFINITY) return;
    for (const hold of Array.isArray(value) ? value : [value]) {
      if (isLasting(hold)) this.#holds.set(hold, { at: this.#clock.now(), trace });
    }
    this.#arm();
  }

  /** The wait is over, or the hold. */
  over(one: Lasting): void {
    this.#waits.delete(one);
    this.#holds.delete(one);
  }

  close(): void {
    this.#cancelTimer?.();
    this.#waits.clear();
    this.#holds.clear();
  }

  /** A timer that is set too early, because its cause has gone, sets itself again. */
  #arm(): void {
    const { heldMs, waitMs } = this.#limits;
    const nextAt = Math.min(dueAt(this.#holds, heldMs), dueAt(this.#waits, waitMs));
    if (nextAt >= this.#firesAt) return;
    this.#cancelTimer?.();
    this.#firesAt = nextAt;
    this.#cancelTimer = this.#clock.inBackground(Math.max(0, nextAt - this.#clock.now()), () => {
      this.#firesAt = Number.POSITIVE_INFINITY;
      const now = this.#clock.now();
      for (const [hold, since] of pastDue(this.#holds, heldMs, now)) this.#tell('held', hold, since, now);
      for (const [call, since] of pastDue(this.#waits, waitMs, now))
        this.#tell('waited for', call, since, now);
      this.#arm();
    });
  }

  #tell(what: 'held' | 'waited for', { name, owner }: Lasting, { at, trace }: Since, now: number): void {
    const forMs = Math.round(now - at);
    const stack = framesOf(trace);
    const by = owner === undefined ? '' : ` by ${owner}`;
    this.#report('warning', {
      code: what === 'held' ? 'HOLDFAST_HELD_LONG' : 'HOLDFAST_WAIT_LONG',
      message: `"${name}" has been ${what}${by} for ${forMs} ms, since this call:\n${stack}`,
      about: { name, owner, forMs, stack },
    });
  }
}

function isLasting(value: unknown): value is Lasting {
  return typeof value === 'object' && value !== null && 'owner' in value;
}

function dueAt(all: ReadonlyMap<Lasting, Since>, limitMs: number): number {
  for (const { at } of all.values()) return at + limitMs;
  return Number.POSITIVE_INFINITY;
}

/** Removes and answers what has passed its limit: each is reported once. */
function pastDue(all: Map<Lasting, Since>, limitMs: number, now: number): [Lasting, Since][] {
  const due: [Lasting, Since][] = [];
  for (const [one, since] of all) {
    if (since.at + limitMs > now) break;
    due.push([one, since]);
    all.delete(one);
  }
  return due;
}

/** The text of the stack is made when it is read, which is seldom. */
function traceOfCaller(): Trace {
  const trace = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = MOST_FRAMES;
  Error.captureStackTrace(trace, traceOfCaller);
  Error.stackTraceLimit = limit;
  return trace;
}

function framesOf({ stack = '' }: Trace): string {
  const frames = stack.split('\n').slice(1);
  const others = frames.filter((frame) => !OWN_PLACES.some((place) => frame.includes(place)));
  return (others.length > 0 ? others : frames).join('\n');
}
