/**
 * `acquire` and `tryAcquire` of the semaphore and the rate limiter, whose permits have no owner.
 *
 * What one call sends to the server is left to its acquisition.
 */
import { checkCount, checkOptions } from '../options/checks.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { CounterAcquisition } from './counter-acquisition.ts';
import type { PermitSection } from './permit-section.ts';

/** How to wait for permits. */
export interface AcquireOptions {
  /** Stops the waiting; the call rejects with the signal's reason and takes nothing. */
  signal?: AbortSignal | undefined;
}

/** How to try to take permits. */
export interface TryAcquireOptions extends AcquireOptions {
  /** How long to wait at most; 0, the default, tries once. */
  waitMs?: number | undefined;
}

/** Results in the section or true, or in the error that says why the permits will never be granted. */
type Begin = (
  count: number,
  section?: PermitSection,
) => Pick<CounterAcquisition<PermitSection | true | Error, unknown>, 'take'>;

export class AcquireMethods {
  readonly #runtime: Runtime;
  readonly #most: number;
  readonly #begin: Begin;

  /** @param most the largest number of permits of one call */
  constructor(runtime: Runtime, most: number, begin: Begin) {
    this.#runtime = runtime;
    this.#most = most;
    this.#begin = begin;
  }

  async acquire(permits: number, options: AcquireOptions | undefined): Promise<void> {
    const count = checkCount(permits, 'permits', 0, this.#most);
    const { signal } = checkOptions('acquirePermits', options);
    if (!(await this.take(count, Number.POSITIVE_INFINITY, signal))) {
      throw new Error('A wait without a limit ended without a result');
    }
  }

  async tryAcquire(permits: number, options: TryAcquireOptions | undefined): Promise<boolean> {
    const count = checkCount(permits, 'permits', 0, this.#most);
    const { signal, waitMs = 0 } = checkOptions('tryAcquirePermits', options);
    return this.take(count, waitMs, signal);
  }

  /**
   * @param section the work that the permits are for, if subscribers hear of it
   * @returns false when the time is over
   */
  async take(
    count: number,
    waitMs: number,
    signal: AbortSignal | undefined,
    section?: PermitSection,
  ): Promise<boolean> {
    this.#runtime.assertAdmitting();
    signal?.throwIfAborted();
    if (count === 0) return true;
    const granted = await this.#begin(count, section).take({ waitMs, signal });
    if (granted instanceof Error) throw granted;
    return granted !== null;
  }
}
