/**
 * The latest of many values: the oldest one goes when there are too many.
 */
export class Ring<T> {
  readonly #most: number;
  #values: T[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return Math.min(this.#values.length, this.#most);
  }

  add(value: T): void {
    this.#values.push(value);
    // Not at every call: that would move all of them each time.
    if (this.#values.length >= 2 * this.#most) this.#values = this.#values.slice(-this.#most);
  }

  /** Oldest first. */
  all(): T[] {
    return this.#values.slice(-this.#most);
  }
}
