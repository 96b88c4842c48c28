/**
 * The stream of one page that is open.
 *
 * A change is only noted here, and written when the reader has room: a slow reader gets the newest state of what changed
 * meanwhile instead of every step, and one that reads nothing for too long is dropped. So no reader makes the process
 * keep more than one state for it.
 */
import type { Board, Watcher } from '../board.ts';
import type { ChartPoint, Happening, ServerHealth, StreamEvents } from '../protocol.ts';

export interface StreamLimits {
  /** Changes are written no more often than this. */
  readonly flushMs: number;
  /** A reader that takes nothing for so long is dropped. */
  readonly stalledMs: number;
}

/** What may wait for the reader before nothing more is written. */
const HIGH_WATER_BYTES = 65_536;
/** How often the load is told, in flushes. */
const FLUSHES_PER_LOAD = 4;
/** The most entries of the timeline that wait for a slow reader; it gets the newest. */
const MOST_HAPPENINGS = 1_000;

const encoder = new TextEncoder();

export class EventStream implements Watcher {
  readonly body: ReadableStream<Uint8Array>;
  readonly #board: Board;
  readonly #limits: StreamLimits;
  readonly #onEnd: (stream: EventStream) => void;
  readonly #changed = new Set<string>();
  #happened: Happening[] = [];
  #points: ChartPoint[] = [];
  #health: ServerHealth | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #flushes = 0;
  #tookAt = performance.now();

  /** @param csrf what a request of this page to free a lock must carry; null where locks cannot be freed */
  constructor(board: Board, csrf: string | null, limits: StreamLimits, onEnd: (stream: EventStream) => void) {
    this.#board = board;
    this.#limits = limits;
    this.#onEnd = onEnd;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          this.#write(`retry: 2000\n\n${event('hello', board.hello(csrf))}`);
          this.#write(`event: locks\ndata: ${locks(true, board.table.texts(), [])}\n\n`);
        },
        pull: () => {
          this.#tookAt = performance.now();
        },
        cancel: () => this.end(),
      },
      { highWaterMark: HIGH_WATER_BYTES, size: ({ byteLength }) => byteLength },
    );
    board.watch(this);
    this.#timer = setInterval(() => this.#flush(), limits.flushMs).unref();
  }

  onLocks(key: string): void {
    this.#changed.add(key);
  }

  onHealth(health: ServerHealth): void {
    this.#health = health;
  }

  onHappened(happening: Happening): void {
    this.#happened.push(happening);
    if (this.#happened.length > MOST_HAPPENINGS) this.#happened.shift();
  }

  onPoint(point: ChartPoint): void {
    this.#points.push(point);
  }

  /** Ends it; the page connects again, unless it was closed. */
  end(error?: Error): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    this.#controller = undefined;
    clearInterval(this.#timer);
    this.#board.unwatch(this);
    this.#onEnd(this);
    try {
      if (error === undefined) controller.close();
      else controller.error(error);
    } catch {
      // The reader has ended it already.
    }
  }

  #flush(): void {
    const room = this.#controller?.desiredSize ?? 0;
    if (room <= 0) {
      if (performance.now() - this.#tookAt > this.#limits.stalledMs)
        this.end(new Error('The reader is too slow'));
      return;
    }
    this.#tookAt = performance.now();
    this.#flushes += 1;
    const written = [
      this.#changed.size > 0 ? `event: locks\ndata: ${this.#takeLocks()}\n\n` : '',
      this.#health === undefined ? '' : event('health', this.#health),
      ...this.#happened.map((happening) => event('happened', happening)),
      ...this.#points.map((point) => event('point', point)),
      this.#flushes % FLUSHES_PER_LOAD === 0 ? event('load', this.#board.load()) : '',
    ].join('');
    this.#health = undefined;
    this.#happened = [];
    this.#points = [];
    if (written !== '') this.#write(written);
  }

  #takeLocks(): string {
    const changed: string[] = [];
    const gone: string[] = [];
    for (const key of this.#changed) {
      const text = this.#board.table.text(key);
      if (text === undefined) gone.push(key);
      else changed.push(text);
    }
    this.#changed.clear();
    return locks(false, changed, gone);
  }

  #write(text: string): void {
    this.#controller?.enqueue(encoder.encode(text));
  }
}

/** JSON has no line breaks of its own, so one line of data is enough. */
function event<Name extends keyof StreamEvents>(name: Name, data: StreamEvents[Name]): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** @param changed rows that are JSON already */
function locks(whole: boolean, changed: readonly string[], gone: readonly string[]): string {
  return `{"at":${Date.now()},"whole":${whole},"changed":[${changed.join(',')}],"gone":${JSON.stringify(gone)}}`;
}
