/**
 * What has been warned of and still stands: nothing is said twice, and whoever asks how things are hears it again.
 */
import type { ClientEvents, WarningCode } from '../events.ts';

export class Warnings {
  readonly #standing = new Map<WarningCode, ClientEvents['warning']>();

  /** Answers whether it is news; from here on it is not. */
  isNews(warning: ClientEvents['warning']): boolean {
    if (this.#standing.has(warning.code)) return false;
    this.#standing.set(warning.code, warning);
    return true;
  }

  /** It is so no more: should it be so again, that is news. */
  forget(code: WarningCode): void {
    this.#standing.delete(code);
  }

  has(code: WarningCode): boolean {
    return this.#standing.has(code);
  }

  [Symbol.iterator](): IterableIterator<ClientEvents['warning']> {
    return this.#standing.values();
  }
}
