/**
 * Records what one process does with locks, each event before the next step.
 *
 * The recorder wraps calls of the public API and does not change them. The checker decides whether the recorded events
 * were allowed.
 */
import { openSync, readFileSync, writeSync } from 'node:fs';
import type { HistoryEvent, RecordedCall, RecordedKind } from './event.ts';

/** The process's monotonic clock in nanoseconds. */
export function nowNs(): number {
  return Number(process.hrtime.bigint());
}

/**
 * An event without the time. The process is the recorder's own, unless the event is about another process, such as its
 * death.
 */
export type EventToRecord = Omit<HistoryEvent, 'proc' | 'atNs'> & { readonly proc?: string };

/** A request, and the worker that makes it. */
export interface RecordedRequest {
  readonly worker: string;
  /** Several keys belong to a multi lock: its events are recorded under each of them. */
  readonly key: string | readonly string[];
  readonly kind: RecordedKind;
  readonly party?: string;
  readonly permits?: number;
  /** How long the caller will wait. 0 is a single attempt: if it fails, the lock must have been taken. */
  readonly waitMs?: number;
  readonly leaseMs?: number;
}

/** The used properties of a hold or a permit. A permit of a plain semaphore has none of them. */
export interface Holdable {
  readonly signal?: AbortSignal;
  readonly remainingMs?: number;
  readonly owner?: string;
  readonly token?: number | undefined;
}

/** A granted hold. Its end is recorded, too. */
export interface RecordedHold<H extends Holdable> {
  readonly hold: H;
  /** The handle's name in the history; for a multi lock, `@` and the key follow it. */
  readonly id: string;
  /** Calls `giveBack` and records it. Rejects if `giveBack` rejects. */
  release(giveBack: () => Promise<boolean>): Promise<boolean>;
}

const LOOK_EVERY_MS = 10;
/** If a check is later than this, the process is recorded as stalled. */
const STALL_MS = 20;
/** A smaller change of a deadline is no renewal: reading it takes time. */
const MOVED_NS = 1e6;

/** The events of one call, one for each key. */
type Abouts = readonly EventToRecord[];

interface Watched {
  readonly hold: Holdable;
  readonly abouts: Abouts;
  deadlineNs: number;
}

/**
 * Records the calls of one process.
 *
 * @example
 * ```ts
 * import type { HistoryEvent } from 'holdfast/testing';
 *
 * const events: HistoryEvent[] = [];
 * const recorder = new Recorder('worker-1', (event) => events.push(event));
 * const request = { worker: 'a', key: 'invoice:42', kind: 'lock', waitMs: 500 } as const;
 * const recorded = await recorder.acquire(request, () => client.getLock('invoice:42').tryLock({ waitMs: 500 }));
 * await recorded?.release(() => recorded.hold.unlock());
 * recorder.close();
 * ```
 */
export class Recorder {
  readonly #write: (event: HistoryEvent) => void;
  /** The name of the process in the history. */
  readonly proc: string;
  readonly #watched = new Set<Watched>();
  readonly #looking: NodeJS.Timeout;
  #lookedAt = nowNs();
  #calls = 0;
  #holds = 0;

  /** `write` must have stored the event when it returns: the process may end at the next step. */
  constructor(proc: string, write: (event: HistoryEvent) => void) {
    this.proc = proc;
    this.#write = write;
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#looking.unref();
  }

  /** Appends to a file that several processes may share, one line of JSON for each event. */
  static toFile(path: string, proc: string): Recorder {
    const file = openSync(path, 'a');
    return new Recorder(proc, (event) => writeSync(file, `${JSON.stringify(event)}\n`));
  }

  /** Records what the methods below do not, mainly incidents. */
  record(event: EventToRecord): void {
    this.#write({ proc: this.proc, atNs: nowNs(), ...event });
  }

  /**
   * Records an acquisition; `null` means that the wait ended without a grant. A rejection is recorded as an unknown
   * outcome, and rethrown.
   */
  async acquire<H extends Holdable>(
    request: RecordedRequest,
    take: () => Promise<H | null>,
  ): Promise<RecordedHold<H> | null> {
    const abouts = this.#begin('acquire', request);
    const hold = await this.#settle(abouts, take);
    if (hold === null) {
      this.#recordAll(abouts, { type: 'fail' });
      return null;
    }
    return this.#granted(abouts, hold);
  }

  /** Records any other call; `isDone` decides by its result between `ok` and `fail`. */
  async call<Answer>(
    op: RecordedCall,
    request: RecordedRequest & Pick<HistoryEvent, 'hold' | 'token'>,
    act: () => Promise<Answer>,
    isDone: (answer: Answer) => boolean = () => true,
  ): Promise<Answer> {
    return this.#follow(this.#begin(op, request), act, isDone);
  }

  /** Stops checking deadlines and stalls. Call it when the clients are closed and nothing is held any more. */
  close(): void {
    clearInterval(this.#looking);
    this.#look();
  }

  #begin(op: RecordedCall, { key, ...request }: RecordedRequest): Abouts {
    const keys = typeof key === 'string' ? [key] : key;
    const abouts = keys.map((each): EventToRecord => {
      this.#calls += 1;
      return { ...request, key: each, op, call: this.#calls, type: 'invoke' };
    });
    this.#recordAll(abouts);
    return abouts;
  }

  #recordAll(abouts: Abouts, more: Partial<EventToRecord> = {}): void {
    for (const about of abouts) this.record({ ...about, ...more });
  }

  async #follow<Answer>(
    abouts: Abouts,
    act: () => Promise<Answer>,
    isDone: (answer: Answer) => boolean,
  ): Promise<Answer> {
    const answer = await this.#settle(abouts, act);
    this.#recordAll(abouts, { type: isDone(answer) ? 'ok' : 'fail' });
    return answer;
  }

  async #settle<Answer>(abouts: Abouts, act: () => Promise<Answer>): Promise<Answer> {
    try {
      return await act();
    } catch (error) {
      const { code, name } = Object(error) as { code?: unknown; name?: unknown };
      this.#recordAll(abouts, { type: 'info', what: String(typeof code === 'string' ? code : name) });
      throw error;
    }
  }

  #granted<H extends Holdable>(abouts: Abouts, hold: H): RecordedHold<H> {
    this.#holds += 1;
    const id = `${this.proc}/${this.#holds}`;
    const { owner, token } = hold;
    const granted = abouts.map((about) => ({
      ...about,
      hold: abouts.length === 1 ? id : `${id}@${about.key}`,
      ...(owner !== undefined && { owner }),
      ...(token !== undefined && { token }),
    }));
    const deadlineNs = deadlineOf(hold);
    this.#recordAll(granted, { type: 'ok', ...(Number.isFinite(deadlineNs) && { deadlineNs }) });
    const watched = { hold, abouts: granted, deadlineNs };
    this.#watch(watched);
    return {
      hold,
      id,
      release: async (giveBack) => {
        this.#watched.delete(watched);
        const releases = granted.map((about): EventToRecord => {
          this.#calls += 1;
          return { ...about, op: 'release', type: 'invoke', call: this.#calls };
        });
        this.#recordAll(releases);
        return this.#follow(releases, giveBack, Boolean);
      },
    };
  }

  #watch(watched: Watched): void {
    const { hold, abouts } = watched;
    const { signal } = hold;
    if (signal === undefined) return;
    const onAbort = () => {
      this.#watched.delete(watched);
      const { reason } = Object(signal.reason) as { reason?: unknown };
      this.#recordAll(abouts, { op: 'lost', type: 'info', what: String(reason) });
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    this.#watched.add(watched);
    signal.addEventListener('abort', onAbort, { once: true });
  }

  /** Records which deadlines have moved, and whether the process was stalled since the last check. */
  #look(): void {
    const now = nowNs();
    if (now - this.#lookedAt > (LOOK_EVERY_MS + STALL_MS) * 1e6) {
      this.record({ worker: '', key: '', op: 'stalled', type: 'info', fromNs: this.#lookedAt });
    }
    this.#lookedAt = now;
    for (const watched of this.#watched) this.#lookAt(watched);
  }

  #lookAt(watched: Watched): void {
    const { hold, abouts } = watched;
    const readAtNs = nowNs();
    const { remainingMs = Number.POSITIVE_INFINITY } = hold;
    // With no time left the result would be the present, and after a pause it would be too early.
    if (remainingMs === 0 || nowNs() - readAtNs > MOVED_NS) return;
    const deadlineNs = readAtNs + remainingMs * 1e6;
    if (!Number.isFinite(deadlineNs) || Math.abs(deadlineNs - watched.deadlineNs) < MOVED_NS) return;
    watched.deadlineNs = deadlineNs;
    this.#recordAll(abouts, { op: 'held', type: 'info', deadlineNs });
  }
}

/** Read the clock first: a pause before the second reading can only make the deadline earlier. */
function deadlineOf(hold: Holdable): number {
  const readAtNs = nowNs();
  return readAtNs + (hold.remainingMs ?? Number.POSITIVE_INFINITY) * 1e6;
}

/** The events of a file written by recorders; a last line cut short by a kill is omitted. */
export function readHistory(path: string): HistoryEvent[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  const whole = lines.slice(0, -1);
  return whole.map((line) => JSON.parse(line) as HistoryEvent);
}
