/**
 * A guard for what lives in this process: a cache, a file it alone writes, a device.
 */
import { StaleTokenError } from '../errors.ts';

/**
 * Lets work through in the order of its tokens: once a token was seen, lower ones are refused.
 *
 * @example
 * ```ts
 * const guard = new MemoryGuard();
 * const stock = client.getFencedLock('stock:7');
 * await using hold = await stock.lock();
 * guard.admit('stock:7', hold.token); // throws StaleTokenError for a holder that slept too long
 * ```
 */
export class MemoryGuard {
  readonly #newest = new Map<string, number>();

  /**
   * To be called right before the resource is changed.
   *
   * @throws StaleTokenError when a higher token was admitted before
   */
  admit(resource: string, token: number): void {
    const newest = this.#newest.get(resource) ?? 0;
    if (token < newest) throw new StaleTokenError(resource, token, newest);
    this.#newest.set(resource, token);
  }

  /** Forgets a resource that is gone, so that the guard does not grow for ever. */
  forget(resource: string): void {
    this.#newest.delete(resource);
  }
}
