/**
 * How long the server remembers the answers of requests that must not run twice.
 *
 * Until its answer arrives, a request may be repeated, through an outage of up to an hour: the server remembers the
 * answer for that long. After that, only copies that are still on their way matter. The client then shortens the time,
 * for many answers in one background call, so that a busy semaphore does not fill the server.
 */
import type { Clock } from '../clock.ts';
import { LATE_MS } from '../runtime/tombstone.ts';
import { answerShorten } from '../scripts/generated.ts';
import type { Wire } from './wire.ts';

/** How long the client retries an unanswered request, or the undoing of an abandoned acquisition. */
export const UNANSWERED_MS = 3_600_000;

/**
 * How long the server remembers the answer of a request that is retried for `retriedMs`: the last attempt takes time
 * and may arrive late.
 *
 * @param rememberMs how long it remembers what has been answered
 */
export function retainedMs(rememberMs: number, retriedMs = UNANSWERED_MS): number {
  return Math.min(retriedMs + LATE_MS + 2 * rememberMs, Number.MAX_SAFE_INTEGER);
}

const SHORTEN_EVERY_MS = 1_000;
const MOST_IN_ONE_CALL = 500;

export class AnswerRetention {
  readonly #clock: Clock;
  readonly #wire: Wire;
  /** Answer keys by main key, whose slot they share. */
  readonly #arrived = new Map<string, string[]>();

  constructor(clock: Clock, wire: Wire) {
    this.#clock = clock;
    this.#wire = wire;
  }

  /** The answer under `answerKey` arrived at the first try; the server still remembers it for long. */
  arrived(key: string, answerKey: string): void {
    if (this.#arrived.size === 0) this.#clock.inBackground(SHORTEN_EVERY_MS, () => void this.flush());
    const keys = this.#arrived.get(key);
    if (keys === undefined) this.#arrived.set(key, [answerKey]);
    else keys.push(answerKey);
  }

  /** Shortens the time of all answers that have arrived; if that fails, they stay for their full time: harmless. */
  async flush(): Promise<void> {
    const { driver, rememberMs } = this.#wire;
    const calls: Promise<unknown>[] = [];
    for (const keys of this.#arrived.values()) {
      for (let from = 0; from < keys.length; from += MOST_IN_ONE_CALL) {
        const answers = keys.slice(from, from + MOST_IN_ONE_CALL);
        calls.push(answerShorten.run(driver, { answers }, { rememberMs }));
      }
    }
    this.#arrived.clear();
    await Promise.allSettled(calls);
  }
}
