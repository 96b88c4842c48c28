/**
 * A fence for a resource of this process: a cache, a file that no other process writes, a device.
 */
import { StaleTokenError } from '../errors.ts';
import { checkToken } from '../options/checks.ts';

/**
 * Admits work in the order of its tokens: once the fence has seen a token, it refuses lower ones.
 *
 * The fence belongs with the resource, one for all its writers. It lives in memory only: a resource that outlives
 * the process must store its token itself.
 *
 * @example
 * ```ts
 * const fence = new MemoryFence();
 * const stock = client.getFencedLock('stock:7');
 * await using hold = await stock.lock();
 * fence.admit('stock:7', hold.token); // throws StaleTokenError for a holder that slept too long
 * ```
 */
export class MemoryFence {
  readonly #newest = new Map<string, number>();

  /**
   * Call this right before changing the resource, with nothing awaited in between; and before reading a value that
   * the next write depends on.
   *
   * @throws StaleTokenError when a higher token was admitted before
   * @throws OptionError when the token is not valid
   */
  admit(resource: string, token: number): void {
    // A value that is neither higher nor lower, such as NaN, would open the fence for every token.
    checkToken(token);
    const newest = this.#newest.get(resource) ?? 0;
    if (token < newest) throw new StaleTokenError(resource, token, newest);
    this.#newest.set(resource, token);
  }

  /** Forgets a resource that is gone, so that the fence does not grow forever. */
  forget(resource: string): void {
    this.#newest.delete(resource);
  }
}
