/**
 * Goes on in the background after the caller has its result: undoes acquisitions that may have run although they were
 * reported as failed, ends holds that were lost while the server was unreachable, and repeats releases and other
 * changes that got no answer.
 *
 * A task repeats until the server has answered, or until it no longer matters: the lease in question is over, or the
 * server has forgotten the request. Each call is idempotent; what else it needs against late copies, such as a
 * tombstone, its script does. Also counts the calls that a closing client has to wait for.
 */

import { type Clock, serverTime } from '../clock.ts';
import type { Report } from '../events.ts';
import { classify } from '../outcome.ts';
import { Backoff } from './backoff.ts';

export class BackgroundRetry {
  readonly #clock: Clock;
  readonly #report: Report;
  readonly #tasks = new Set<Promise<void>>();
  /** Calls under way besides the tasks. */
  #others = 0;
  #whenOthersEnded: (() => void)[] = [];
  #closed = false;

  constructor(clock: Clock, report: Report) {
    this.#clock = clock;
    this.#report = report;
  }

  /**
   * Repeats an idempotent call until it is answered, for at most this long. Time in which the machine is suspended
   * counts: meanwhile leases end, and the server forgets answers.
   */
  repeatUntilAnswered(what: string, forMs: number, call: () => Promise<unknown>): void {
    if (this.#closed) return;
    const task = this.#repeat(what, serverTime(this.#clock) + forMs, call);
    this.#tasks.add(task);
    void task.then(() => this.#tasks.delete(task));
  }

  /** Counts a call that its caller awaits among the tasks, until `ended` is called. */
  began(): void {
    this.#others += 1;
  }

  ended(): void {
    this.#others -= 1;
    if (this.#others === 0) for (const tell of this.#whenOthersEnded.splice(0)) tell();
  }

  /** Resolves when every task has ended, also those that come while it waits. */
  async drained(): Promise<void> {
    while (this.#tasks.size > 0 || this.#others > 0) {
      await Promise.all(this.#tasks);
      if (this.#others > 0) await new Promise<void>((resolve) => this.#whenOthersEnded.push(resolve));
    }
  }

  /** Tasks under way make no further attempt. */
  close(): void {
    this.#closed = true;
  }

  async #repeat(what: string, until: number, call: () => Promise<unknown>): Promise<void> {
    const backoff = new Backoff(50, 1_000);
    let isTold = false;
    const tell = (error: unknown) => {
      if (!isTold) this.#report('error', { error, during: what });
      isTold = true;
    };
    for (;;) {
      try {
        await call();
        return;
      } catch (error) {
        // Report a refusal at once: only a person can fix its cause. Once a password or a rule is fixed, the call runs.
        if (classify(error) === 'refused') tell(error);
        if (!this.#closed) {
          await new Promise<void>((resolve) => this.#clock.inBackground(backoff.next(), resolve));
          if (this.#closed) return;
          if (serverTime(this.#clock) < until) continue;
        }
        tell(error);
        return;
      }
    }
  }
}
