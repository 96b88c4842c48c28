/**
 * Turns Ctrl-C and SIGTERM into an AbortSignal, so that the demo can clean up before it ends.
 */
import { Interrupted } from '../failure.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #onSignal = (signal: NodeJS.Signals) => {
    const interrupted = new Interrupted(signal);
    // A second signal ends the process at once; children and servers notice by themselves.
    if (this.#controller.signal.aborted) process.exit(interrupted.exitCode);
    this.#controller.abort(interrupted);
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Waits for the promise until it settles, the demo is interrupted, or `withinMs` have passed. */
  async bounded<T>(promise: Promise<T>, withinMs: number): Promise<T> {
    const { signal } = this.#controller;
    let stop = (_reason: unknown) => {};
    const stopped = new Promise<never>((_resolve, reject) => {
      stop = reject;
    });
    const onAbort = () => stop(signal.reason);
    const timer = setTimeout(
      () => stop(new Error(`the scene did not end within ${withinMs / 1_000} s`)),
      withinMs,
    );
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    try {
      return await Promise.race([promise, stopped]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}
