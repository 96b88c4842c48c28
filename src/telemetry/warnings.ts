/**
 * The warnings about the server that currently apply. Each is reported once; health checks list them again. A warning
 * about a name says nothing about the server: whoever finds it reports it once.
 */
import type { ClientEvents, WarningCode } from '../events.ts';

/** These are about one call or one moment: each is news, and none says anything about the server's health. */
const PASSING: ReadonlySet<WarningCode> = new Set([
  'HOLDFAST_NO_LABEL',
  'HOLDFAST_HELD_LONG',
  'HOLDFAST_WAIT_LONG',
  'HOLDFAST_SELF_WAIT',
]);

export class Warnings {
  readonly #standing = new Map<WarningCode, ClientEvents['warning']>();

  /** Returns whether the warning is new, and remembers it. */
  isNews(warning: ClientEvents['warning']): boolean {
    if (PASSING.has(warning.code) || warning.name !== undefined) return true;
    if (this.#standing.has(warning.code)) return false;
    this.#standing.set(warning.code, warning);
    return true;
  }

  /** The warning no longer applies: if it occurs again, it is new. */
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
