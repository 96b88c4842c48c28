/**
 * What those who wait for the same thing in this process know of each other: who had come before a certain look was
 * taken, and need not look again.
 */
export class SharedLook {
  #came = 0;
  #inside = 0;
  #servedUpTo = 0;

  get isEmpty(): boolean {
    return this.#inside === 0;
  }

  /** How many have come so far: a newcomer's number, or what to note before a look. */
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

  /** A look, before which this many had come, found what they all wait for. */
  serve(upTo: number): void {
    this.#servedUpTo = Math.max(this.#servedUpTo, upTo);
  }

  isServed(number: number): boolean {
    return number <= this.#servedUpTo;
  }
}

export class SharedLooks {
  readonly #sharedLooks = new Map<string, SharedLook>();

  /** Has the work done as one of the crowd of that id, which is there while somebody is in it. */
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
