/**
 * The counter of a semaphore: its number of permits, which both kinds of semaphore set and add to in the same way.
 */
import { semaphoreChannel } from '../keys.ts';
import { checkCount, checkOptions } from '../options/checks.ts';
import { semaphoreAddPermits, semaphoreTrySetPermits } from '../scripts/generated.ts';
import { Counter } from './counter.ts';

/** Redisson reads a number of permits as a Java `int`. */
export const MOST_PERMITS = 2 ** 31 - 1;

/** How to set the permits of a semaphore. */
export interface SetPermitsOptions {
  /** The semaphore expires after this time; default: never. */
  ttlMs?: number | undefined;
}

export class SemaphoreCounter extends Counter {
  get keys(): { permits: string } {
    return { permits: this.key };
  }

  /** The command and the channel that wake the waiters. */
  get wake(): { publish: string; channel: string } {
    return { publish: this.context.wire.publish, channel: semaphoreChannel(this.key) };
  }

  async trySetPermits(permits: number, options?: SetPermitsOptions): Promise<boolean> {
    const count = checkCount(permits, 'permits', 0, MOST_PERMITS);
    const { ttlMs = 0 } = checkOptions('setPermits', options);
    const args = { count, ttlMs, ...this.wake };
    const reply = await this.requests.change(
      'set the permits of',
      this.requestWith(semaphoreTrySetPermits, this.keys, args),
    );
    this.changed(reply);
    return reply.status === 'set';
  }

  async addPermits(permits: number): Promise<void> {
    const count = checkCount(permits, 'permits', -MOST_PERMITS, MOST_PERMITS);
    const args = { count, ...this.wake };
    const reply = await this.requests.change(
      'add permits to',
      this.requestWith(semaphoreAddPermits, this.keys, args),
    );
    this.changed(reply);
  }
}
