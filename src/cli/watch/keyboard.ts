/**
 * The keys of `watch`, and the signals that end it. Both leave the terminal as it was.
 */
import { exitCodeOf } from '../exit-codes.ts';

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const CTRL_C = '\x03';

export class Keyboard implements Disposable {
  /** Resolves to the exit code when the person or a signal ends the watching. */
  readonly ended: Promise<number>;
  readonly #isRaw = process.stdin.isTTY === true;
  #end: (exitCode: number) => void = () => {};
  readonly #onSignal = (signal: NodeJS.Signals) => this.#end(exitCodeOf(signal));
  readonly #onKeys: (data: Buffer) => void;

  /** @param onKey called for every key but those that end the watching */
  constructor(onKey: (key: string) => void) {
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#onKeys = (data) => {
      for (const key of data.toString()) {
        if (key === 'q') this.#end(0);
        // In raw mode the terminal does not turn it into a signal.
        else if (key === CTRL_C) this.#end(exitCodeOf('SIGINT'));
        else onKey(key);
      }
    };
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    if (!this.#isRaw) return;
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#onKeys);
    process.stdin.resume();
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
    if (!this.#isRaw) return;
    process.stdin.off('data', this.#onKeys);
    process.stdin.setRawMode(false);
    process.stdin.pause();
  }
}
