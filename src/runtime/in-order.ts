/**
 * Runs changes one after the other, so that they arrive at the server in the order of the calls.
 */
export class InOrder {
  #last: Promise<unknown> | undefined;
  #hasFailed = false;

  /** Whether no change is under way. */
  get isIdle(): boolean {
    return this.#last === undefined;
  }

  /** Whether a change failed, ever. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Runs the change after all earlier ones have settled; at once when there is none. */
  run<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#last === undefined ? change() : this.#last.then(change);
    // The failure of a change is for its caller to handle; the next change only waits for it.
    const settled = done.then(
      () => undefined,
      () => {
        this.#hasFailed = true;
      },
    );
    this.#last = settled;
    void settled.then(() => {
      if (this.#last === settled) this.#last = undefined;
    });
    return done;
  }

  /** Resolves when the changes that are under way now are done. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
