/**
 * Lets the sections of one owner in one after another, in order of arrival, within this process.
 *
 * A rule decides which section may join those already inside. A waiter that gives up leaves nothing behind.
 */
import { EXPIRED, type WaitBudget } from './wait-budget.ts';

interface Waiter<T> {
  readonly who: T;
  readonly pass: () => void;
}

export class LocalMutex<T> {
  readonly #mayJoin: (innermost: T, who: T) => boolean;
  readonly #inside: T[] = [];
  readonly #waiting = new Set<Waiter<T>>();

  /** @param mayJoin whether `who` may enter while `innermost` is the innermost one inside */
  constructor(mayJoin: (innermost: T, who: T) => boolean) {
    this.#mayJoin = mayJoin;
  }

  get isIdle(): boolean {
    return this.#inside.length === 0 && this.#waiting.size === 0;
  }

  /** Returns false when the wait budget ran out. After true, the caller must call `leave`. */
  async enter(who: T, waitBudget: WaitBudget): Promise<boolean> {
    if (this.isOpenTo(who)) {
      this.#inside.push(who);
      return true;
    }
    let pass = () => {};
    const passed = new Promise<void>((resolve) => {
      pass = resolve;
    });
    const waiter = { who, pass };
    this.#waiting.add(waiter);
    try {
      return (await waitBudget.wait(passed)) !== EXPIRED || this.#inside.includes(who);
    } catch (error) {
      // Let in and aborted at the same moment: the next waiter gets the place.
      if (this.#inside.includes(who)) this.leave(who);
      throw error;
    } finally {
      this.#waiting.delete(waiter);
    }
  }

  leave(who: T): void {
    this.#inside.splice(this.#inside.lastIndexOf(who), 1);
    for (const waiter of this.#waiting) {
      if (!this.isOpenTo(waiter.who)) continue;
      this.#waiting.delete(waiter);
      this.#inside.push(waiter.who);
      waiter.pass();
    }
  }

  /** Whether it may enter without waiting. */
  isOpenTo(who: T): boolean {
    const innermost = this.#inside.at(-1);
    return innermost === undefined || this.#mayJoin(innermost, who);
  }
}
