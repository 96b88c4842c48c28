/**
 * Lets the waiters of one line in this process share a look at the server: a waiter that came before a successful
 * look need not look again.
 */
export class SharedLook {
  #came = 0;
  #inside = 0;
  #servedUpTo = 0;

  get isEmpty(): boolean {
    return this.#inside === 0;
  }

  /** How many waiters have come so far: the number of the newest waiter, and what to note before a look. */
  get came(): number {
    return this.#came;
  }

  enter(): void {
    this.#came += 1;
    this.#inside += 1;
  }

  leave(): void {
    this.#inside -= 1;
  }

  /** A look was successful; this many waiters had come before it and need not look again. */
  serve(upTo: number): void {
    this.#servedUpTo = Math.max(this.#servedUpTo, upTo);
  }

  isServed(number: number): boolean {
    return number <= this.#servedUpTo;
  }
}

export class SharedLooks {
  readonly #sharedLooks = new Map<string, SharedLook>();

  /** Runs the work as one of the waiters with this id, which share a look while there are any. */
  async among<T>(id: string, work: (sharedLook: SharedLook) => Promise<T>): Promise<T> {
    const sharedLook = this.#sharedLooks.get(id) ?? new SharedLook();
    this.#sharedLooks.set(id, sharedLook);
    sharedLook.enter();
    try {
      return await work(sharedLook);
    } finally {
      sharedLook.leave();
      if (sharedLook.isEmpty) this.#sharedLooks.delete(id);
    }
  }
}
