/**
 * The work of one `withPermit` of a plain semaphore, which subscribers hear of as one hold. Made only while there are
 * subscribers.
 */
import type { LossReason } from '../errors.ts';
import type { HoldTrace } from '../tracing.ts';

export class PermitSection {
  /** Permits of a plain semaphore have none. */
  readonly owner = undefined;
  #trace: HoldTrace | undefined;

  followedBy(trace: HoldTrace): void {
    this.#trace = trace;
  }

  lost(reason: LossReason): void {
    this.#trace?.lost(reason);
  }

  /** The work is done; the hold ends when its permits are back. Whether there is still a semaphore tells the release. */
  async leaves(givingBack: Promise<void>): Promise<void> {
    const leaving = givingBack.then(() => true);
    await (this.#trace?.leaves(leaving) ?? leaving);
  }
}
