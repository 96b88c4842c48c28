/**
 * Growing pauses between retries: doubled each time up to a limit, with jitter so that callers that failed
 * together do not retry together.
 */
export class Backoff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #nextMs: number;

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#nextMs = firstMs;
  }

  /** The next pause, between half and all of the current step. */
  next(): number {
    const stepMs = this.#nextMs;
    this.#nextMs = Math.min(stepMs * 2, this.#longestMs);
    return stepMs * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}
