/**
 * Writes down what one process does with locks, each event before the next step is taken.
 *
 * The recorder wraps calls of the public surface; it changes nothing about them. Whether what it wrote down was
 * allowed is left to the checker.
 */
import { openSync, readFileSync, writeSync } from 'node:fs';
import type { HistoryEvent, RecordedCall, RecordedKind } from './event.ts';

/** The process's monotonic clock in nanoseconds. */
export function nowNs(): number {
  return Number(process.hrtime.bigint());
}

/**
 * What a recorder is given: everything but the time, and the process unless it is another one, of which something is
 * known from outside: that it died.
 */
export type EventToRecord = Omit<HistoryEvent, 'proc' | 'atNs'> & { readonly proc?: string };

/** What is asked for, and by whom. */
export interface RecordedRequest {
  readonly worker: string;
  /** Several keys are those of a multi lock: what happens to it is recorded under each of them. */
  readonly key: string | readonly string[];
  readonly kind: RecordedKind;
  readonly party?: string;
  readonly permits?: number;
  /** How long the caller is ready to wait. 0 is one try, which must find the lock taken if it fails. */
  readonly waitMs?: number;
  readonly leaseMs?: number;
}

/** What a recorder has to know of a hold or a permit. A permit of a plain semaphore has nothing of it. */
export interface Holdable {
  readonly signal?: AbortSignal;
  readonly remainingMs?: number;
  readonly owner?: string;
  readonly token?: number | undefined;
}

/** A granted hold. Its end is recorded, too. */
export interface RecordedHold<H extends Holdable> {
  readonly hold: H;
  /** The handle's name in the history; in that of a multi lock, `@` and the key follow it. */
  readonly id: string;
  /** Calls what gives the hold back, and records it. Rejects as that rejects. */
  release(giveBack: () => Promise<boolean>): Promise<boolean>;
}

const LOOK_EVERY_MS = 10;
/** A look that comes later than this is recorded as a stall of the process. */
const STALL_MS = 20;
/** A deadline that moved by less was not renewed: reading it takes time. */
const MOVED_NS = 1e6;

/** What is said of one call, once for each key. */
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

  /** `write` must have stored the event when it returns: what happens next may be the end of the process. */
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

  /** Records what the methods below do not: incidents, above all. */
  record(event: EventToRecord): void {
    this.#write({ proc: this.proc, atNs: nowNs(), ...event });
  }

  /**
   * Records an acquisition: `null` is a wait that ended without it. A rejection is recorded as an outcome that is
   * not known, and passed on.
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

  /** Records any other call; what `isDone` says of its answer decides between `ok` and `fail`. */
  async call<Answer>(
    op: RecordedCall,
    request: RecordedRequest & Pick<HistoryEvent, 'hold' | 'token'>,
    act: () => Promise<Answer>,
    isDone: (answer: Answer) => boolean = () => true,
  ): Promise<Answer> {
    return this.#follow(this.#begin(op, request), act, isDone);
  }

  /** Stops looking at holds and for stalls; to be called when the clients are closed and nothing is held any more. */
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

  /** Notes which deadlines have moved, and whether the process stood still since the last look. */
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
    // Past the deadline what is read is the present, and after a pause in between it is too early.
    if (remainingMs === 0 || nowNs() - readAtNs > MOVED_NS) return;
    const deadlineNs = readAtNs + remainingMs * 1e6;
    if (!Number.isFinite(deadlineNs) || Math.abs(deadlineNs - watched.deadlineNs) < MOVED_NS) return;
    watched.deadlineNs = deadlineNs;
    this.#recordAll(abouts, { op: 'held', type: 'info', deadlineNs });
  }
}

/** Read before what remains: a pause in between may only make the deadline earlier. */
function deadlineOf(hold: Holdable): number {
  const readAtNs = nowNs();
  return readAtNs + (hold.remainingMs ?? Number.POSITIVE_INFINITY) * 1e6;
}

/** The events of a file that recorders appended to; a last line cut short by a kill is left out. */
export function readHistory(path: string): HistoryEvent[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  const whole = lines.slice(0, -1);
  return whole.map((line) => JSON.parse(line) as HistoryEvent);
}
