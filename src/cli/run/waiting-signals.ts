/**
 * Signals while `run` waits for the lock: they end the waiting, which leaves no trace in any queue.
 */
import { Interrupted } from '../failure.ts';

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

export class WaitingSignals implements Disposable {
  readonly #controller = new AbortController();
  readonly #onSignal = (signal: NodeJS.Signals) => this.#controller.abort(new Interrupted(signal));

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Aborts with an `Interrupted`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}
