/**
 * Growing pauses between repeats: doubled each time up to a limit, with jitter so that many who failed
 * together do not come back together.
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

  /** The pause to make now, between half and all of the present step. */
  next(): number {
    const stepMs = this.#nextMs;
    this.#nextMs = Math.min(stepMs * 2, this.#longestMs);
    return stepMs * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}
