/**
 * A fence for what lives in this process: a cache, a file it alone writes, a device.
 */
import { StaleTokenError } from '../errors.ts';
import { checkToken } from '../options/checks.ts';

/**
 * Lets work through in the order of its tokens: once a token was seen, lower ones are refused.
 *
 * It belongs to whoever owns the resource, one for all who write to it. It forgets everything with its process:
 * a resource that outlives that keeps its token itself.
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
   * To be called right before the resource is changed, with nothing awaited in between; and before it is read by
   * somebody who is going to write what becomes of it.
   *
   * @throws StaleTokenError when a higher token was admitted before
   * @throws OptionError when it is no token
   */
  admit(resource: string, token: number): void {
    // What is neither higher nor lower, such as NaN, would open the fence for everybody.
    checkToken(token);
    const newest = this.#newest.get(resource) ?? 0;
    if (token < newest) throw new StaleTokenError(resource, token, newest);
    this.#newest.set(resource, token);
  }

  /** Forgets a resource that is gone, so that the fence does not grow for ever. */
  forget(resource: string): void {
    this.#newest.delete(resource);
  }
}
