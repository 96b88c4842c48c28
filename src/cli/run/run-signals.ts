/**
 * Signals to `run`. While it waits for the lock, they end the waiting, which leaves no trace in any queue; afterwards the
 * command gets them.
 *
 * One listener from beginning to end: a signal in a gap between two would end this process, and the command would go on
 * without the lock.
 */
import { Interrupted } from '../failure.ts';

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'];

export class RunSignals implements Disposable {
  readonly #waiting = new AbortController();
  #command: ((signal: NodeJS.Signals) => void) | undefined;
  readonly #onSignal = (signal: NodeJS.Signals) => {
    if (this.#command === undefined) this.#waiting.abort(new Interrupted(signal));
    else this.#command(signal);
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Aborts with an `Interrupted`. */
  get whileWaiting(): AbortSignal {
    return this.#waiting.signal;
  }

  /** The waiting is over: the command gets them. */
  passTo(command: (signal: NodeJS.Signals) => void): void {
    this.#command = command;
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}
