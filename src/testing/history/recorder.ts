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

/** What a recorder is given: everything but who and when. */
export type EventToRecord = Omit<HistoryEvent, 'proc' | 'atNs'>;

/** What is asked for, and by whom. */
export interface RecordedRequest {
  readonly worker: string;
  readonly key: string;
  readonly kind: RecordedKind;
  readonly party?: string;
  readonly permits?: number;
  readonly leaseMs?: number;
}

/** What a recorder has to know of a hold or a permit. */
export interface Holdable {
  readonly signal: AbortSignal;
  readonly remainingMs: number;
  readonly owner?: string;
  readonly token?: number | undefined;
}

/** A granted hold whose end is recorded, too. */
export interface RecordedHold<H extends Holdable> {
  readonly hold: H;
  /** The handle's name in the history. */
  readonly id: string;
  /** Calls what gives the hold back, and records it. Rejects as that rejects. */
  release(giveBack: () => Promise<boolean>): Promise<boolean>;
}

const LOOK_EVERY_MS = 10;
/** A gap between two looks that is longer than this is a stall of the process. */
const STALL_MS = 40;
/** A deadline that moved by less was not renewed: reading it takes time. */
const MOVED_NS = 1e6;

interface Watched {
  readonly hold: Holdable;
  readonly about: EventToRecord;
  deadlineNs: number;
}

/**
 * Records the calls of one process.
 *
 * @example
 * ```ts
 * const recorder = Recorder.toFile('history.jsonl', 'worker-1');
 * const request = { worker: 'a', key: 'invoice:42', kind: 'lock' } as const;
 * const recorded = await recorder.acquire(request, () => client.getLock('invoice:42').tryLock({ waitMs: 500 }));
 * await recorded?.release(() => recorded.hold.unlock());
 * recorder.close();
 * ```
 */
export class Recorder {
  readonly #write: (event: HistoryEvent) => void;
  readonly #proc: string;
  readonly #watched = new Set<Watched>();
  readonly #looking: NodeJS.Timeout;
  #lookedAt = nowNs();
  #calls = 0;
  #holds = 0;

  /** `write` must have stored the event when it returns: what happens next may be the end of the process. */
  constructor(proc: string, write: (event: HistoryEvent) => void) {
    this.#proc = proc;
    this.#write = write;
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#looking.unref();
  }

  /** Appends to a file that several processes may share, one line of JSON for each event. */
  static toFile(path: string, proc: string): Recorder {
    const file = openSync(path, 'a');
    return new Recorder(proc, (event) => writeSync(file, `${JSON.stringify(event)}\n`));
  }

  record(event: EventToRecord): void {
    this.#write({ proc: this.#proc, atNs: nowNs(), ...event });
  }

  /**
   * Records an acquisition: `null` is a wait that ended without it. A rejection is recorded as an outcome that is
   * not known, and passed on.
   */
  async acquire<H extends Holdable>(
    request: RecordedRequest,
    take: () => Promise<H | null>,
  ): Promise<RecordedHold<H> | null> {
    const about = this.#begin('acquire', request);
    const hold = await this.#settle(about, take());
    if (hold === null) {
      this.record({ ...about, type: 'fail' });
      return null;
    }
    return this.#granted(about, hold);
  }

  /** Records any other call; what `isDone` says of its answer decides between `ok` and `fail`. */
  async call<Answer>(
    op: RecordedCall,
    request: RecordedRequest & Pick<HistoryEvent, 'hold' | 'token'>,
    act: () => Promise<Answer>,
    isDone: (answer: Answer) => boolean = () => true,
  ): Promise<Answer> {
    const about = this.#begin(op, request);
    const answer = await this.#settle(about, act());
    this.record({ ...about, type: isDone(answer) ? 'ok' : 'fail' });
    return answer;
  }

  /** Stops looking at holds. */
  close(): void {
    clearInterval(this.#looking);
  }

  #begin(op: RecordedCall, request: RecordedRequest): EventToRecord {
    this.#calls += 1;
    const about: EventToRecord = { ...request, op, call: this.#calls, type: 'invoke' };
    this.record(about);
    return about;
  }

  async #settle<Answer>(about: EventToRecord, calling: Promise<Answer>): Promise<Answer> {
    try {
      return await calling;
    } catch (error) {
      const { code, name } = Object(error) as { code?: unknown; name?: unknown };
      this.record({ ...about, type: 'info', what: String(code ?? name) });
      throw error;
    }
  }

  #granted<H extends Holdable>(about: EventToRecord, hold: H): RecordedHold<H> {
    this.#holds += 1;
    const id = `${this.#proc}/${this.#holds}`;
    const { owner, token } = hold;
    const granted: EventToRecord = {
      ...about,
      hold: id,
      ...(owner !== undefined && { owner }),
      ...(token !== undefined && { token }),
    };
    const watched = { hold, about: granted, deadlineNs: deadlineOf(hold) };
    this.record({ ...granted, type: 'ok', deadlineNs: watched.deadlineNs });
    this.#watch(watched);
    return {
      hold,
      id,
      release: async (giveBack) => {
        this.#watched.delete(watched);
        const { call: _, type: __, op: ___, ...held } = granted;
        return this.call('release', held as RecordedRequest & { hold: string }, giveBack, Boolean);
      },
    };
  }

  #watch(watched: Watched): void {
    const { hold, about } = watched;
    const onAbort = () => {
      this.#watched.delete(watched);
      const { reason } = Object(hold.signal.reason) as { reason?: unknown };
      this.record({ ...about, op: 'lost', type: 'info', what: String(reason) });
    };
    if (hold.signal.aborted) {
      onAbort();
      return;
    }
    this.#watched.add(watched);
    hold.signal.addEventListener('abort', onAbort, { once: true });
  }

  /** Notes which deadlines have moved, and whether the process stood still since the last look. */
  #look(): void {
    const now = nowNs();
    if (now - this.#lookedAt > (LOOK_EVERY_MS + STALL_MS) * 1e6) {
      this.record({ worker: '', key: '', op: 'stalled', type: 'info', fromNs: this.#lookedAt });
    }
    this.#lookedAt = now;
    for (const watched of this.#watched) {
      const deadlineNs = deadlineOf(watched.hold);
      if (deadlineNs - watched.deadlineNs < MOVED_NS) continue;
      watched.deadlineNs = deadlineNs;
      this.record({ ...watched.about, op: 'held', type: 'info', deadlineNs });
    }
  }
}

/** Read before what remains: a pause in between may only make the deadline earlier. */
function deadlineOf(hold: Holdable): number {
  const readAtNs = nowNs();
  return readAtNs + hold.remainingMs * 1e6;
}

/** The events of a file that recorders appended to; a last line cut short by a kill is left out. */
export function readHistory(path: string): HistoryEvent[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  const whole = lines.slice(0, -1);
  return whole.map((line) => JSON.parse(line) as HistoryEvent);
}
