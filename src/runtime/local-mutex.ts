/**
 * Lets the sections of one owner pass one after another, in the order they came, within this process.
 *
 * Who may pass beside those already inside is for a rule to say. Giving up the wait leaves nothing behind.
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

  /** @param mayJoin whether one may come in while this other one is the innermost inside */
  constructor(mayJoin: (innermost: T, who: T) => boolean) {
    this.#mayJoin = mayJoin;
  }

  get isIdle(): boolean {
    return this.#inside.length === 0 && this.#waiting.size === 0;
  }

  /** Answers whether it is inside; false when patience ran out first. Who came in must leave. */
  async enter(who: T, waitBudget: WaitBudget): Promise<boolean> {
    if (this.#isOpenTo(who)) {
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
      // Let in and aborted in the same moment: the place goes to the next.
      if (this.#inside.includes(who)) this.leave(who);
      throw error;
    } finally {
      this.#waiting.delete(waiter);
    }
  }

  leave(who: T): void {
    this.#inside.splice(this.#inside.lastIndexOf(who), 1);
    for (const waiter of this.#waiting) {
      if (!this.#isOpenTo(waiter.who)) continue;
      this.#waiting.delete(waiter);
      this.#inside.push(waiter.who);
      waiter.pass();
    }
  }

  #isOpenTo(who: T): boolean {
    const innermost = this.#inside.at(-1);
    return innermost === undefined || this.#mayJoin(innermost, who);
  }
}
