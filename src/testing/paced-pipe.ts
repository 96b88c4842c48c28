/**
 * One direction of a proxied connection: delivers bytes late, or in pieces, but always in order.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Read again for every delivery, so that a change affects open connections. */
export interface Pace {
  delayMs: number;
  /** The size of the pieces; 0 for whole writes. */
  fragmentBytes: number;
}

export class PacedPipe {
  readonly #pace: Pace;
  readonly #deliver: (bytes: Buffer) => void;
  readonly #finish: () => void;
  readonly #queue: { readonly bytes: Buffer | null; readonly dueAt: number }[] = [];
  #isPumping = false;

  constructor(pace: Pace, deliver: (bytes: Buffer) => void, finish: () => void) {
    this.#pace = pace;
    this.#deliver = deliver;
    this.#finish = finish;
  }

  send(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const { delayMs, fragmentBytes } = this.#pace;
    if (delayMs === 0 && fragmentBytes === 0 && !this.#isPumping) this.#deliver(bytes);
    else this.#add(bytes);
  }

  /** Ends after everything sent before has been delivered. */
  end(): void {
    this.#add(null);
  }

  #add(bytes: Buffer | null): void {
    this.#queue.push({ bytes, dueAt: performance.now() + this.#pace.delayMs });
    if (!this.#isPumping) void this.#pump();
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const waitMs = next.dueAt - performance.now();
      if (waitMs > 0) await sleep(Math.ceil(waitMs));
      if (next.bytes === null) this.#finish();
      else await this.#deliverInPieces(next.bytes);
      this.#queue.shift();
    }
    this.#isPumping = false;
  }

  async #deliverInPieces(bytes: Buffer): Promise<void> {
    const { fragmentBytes } = this.#pace;
    if (fragmentBytes === 0) {
      this.#deliver(bytes);
      return;
    }
    for (let at = 0; at < bytes.length; at += fragmentBytes) {
      this.#deliver(bytes.subarray(at, at + fragmentBytes));
      // Pieces written in one turn of the event loop would reach the reader as one.
      await nextTurn();
    }
  }
}
