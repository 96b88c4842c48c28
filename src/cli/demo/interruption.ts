/**
 * Ctrl-C and SIGTERM as an AbortSignal, so that the demo can put things away before it ends.
 */
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Why the demo stopped, and the exit code that says so. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`Interrupted by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #onSignal = (signal: NodeJS.Signals) => {
    const interrupted = new Interrupted(signal);
    // Asked twice, it ends at once; children and servers notice by themselves.
    if (this.#controller.signal.aborted) process.exit(interrupted.exitCode);
    this.#controller.abort(interrupted);
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Waits for the promise, unless interrupted or after `withinMs`; it is left to itself then. */
  async bounded<T>(promise: Promise<T>, withinMs: number): Promise<T> {
    const { signal } = this.#controller;
    let stop = (_reason: unknown) => {};
    const stopped = new Promise<never>((_resolve, reject) => {
      stop = reject;
    });
    const onAbort = () => stop(signal.reason);
    const timer = setTimeout(() => stop(new Error(`it was not over after ${withinMs / 1_000} s`)), withinMs);
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
