/**
 * The count-down latch: it is closed with a count and opens when the count reaches 0.
 *
 * The runtime does the waiting. One look that finds the latch open releases every waiter that came before that look.
 */
import { tracesAcquisitions } from '../channels.ts';
import { latchChannel } from '../keys.ts';
import { checkCount, checkOptions } from '../options/checks.ts';
import { Acquisition } from '../runtime/acquire.ts';
import { UNKNOWN_MS, type Waiting } from '../runtime/protocol.ts';
import type { Limits } from '../runtime/wait-budget.ts';
import { POLL_MS } from '../runtime/wake/poller.ts';
import {
  countDownLatchCountDown,
  countDownLatchDelete,
  countDownLatchGetCount,
  countDownLatchTrySetCount,
} from '../scripts/generated.ts';
import { traceAcquire } from '../tracing.ts';
import { Counter, type SynchronizerContext } from './counter.ts';
import type { SharedLook } from './shared-look.ts';

/** How to wait for a latch. */
export interface AwaitOptions {
  /** How long to wait at most; default: no limit. */
  waitMs?: number | undefined;
  /** Stops the waiting; the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Whether a latch with this key works in a Cluster. Redisson wraps the channel name of a latch in braces. If the name
 * has braces too, channel and key fall into different slots, and no script can reach both.
 */
export function latchFitsCluster(key: string): boolean {
  return !/[{}]/.test(key);
}

/**
 * A gate that opens when its count reaches 0, made by `client.getCountDownLatch(name)`.
 *
 * @example
 * ```ts
 * const ready = client.getCountDownLatch('all-parts-ready');
 * await ready.trySetCount(2);
 * const opened = ready.await({ waitMs: 5_000 });
 * await ready.countDown();
 * await ready.countDown();
 * console.log(await opened); // true
 * ```
 */
export class CountDownLatch {
  readonly name: string;
  readonly #counter: LatchCounter;

  /** @internal */
  constructor(context: SynchronizerContext, name: string) {
    this.name = name;
    this.#counter = new LatchCounter(context, 'latch', name);
  }

  /**
   * Closes the latch with a count of 1 or more.
   *
   * @returns false when the latch is already closed; its count stays as it is
   */
  async trySetCount(count: number): Promise<boolean> {
    checkCount(count, 'count', 1);
    const { requests, keys, wake } = this.#counter;
    const trySet = this.#counter.requestWith(countDownLatchTrySetCount, keys, { count, ...wake });
    const reply = await requests.change('set the count of', trySet);
    this.#counter.changed(reply);
    return reply.status === 'set';
  }

  /**
   * Counts down by one; the last call opens the latch. An open latch stays open.
   *
   * @throws OutcomeUnknownError when the server did not answer in time; the client retries in the background, and the
   * call takes effect once
   */
  async countDown(): Promise<void> {
    const { context, keys, wake } = this.#counter;
    context.runtime.assertOpen();
    const countDown = this.#counter.requestWith(countDownLatchCountDown, keys, wake);
    const wasOpen = ({ status }: { status: string }) => status === 'open';
    const reply = await this.#counter.giveBack(undefined, countDown, wasOpen, { verb: 'count down' });
    this.#counter.changed(reply);
  }

  /** The count; 0 when the latch is open or was never closed. */
  async getCount(): Promise<number> {
    return this.#counter.requests.read('read the count of', () => this.#counter.look());
  }

  /**
   * Waits until the latch is open.
   *
   * @returns false when the latch did not open within `waitMs`
   */
  async await(options?: AwaitOptions): Promise<boolean> {
    const { waitMs = Number.POSITIVE_INFINITY, signal } = checkOptions('awaitLatch', options);
    const limits = { waitMs, signal };
    if (!tracesAcquisitions()) return this.#await(limits);
    const { context, kind, name } = this.#counter;
    return traceAcquire(context.runtime, { kind, name }, limits, (traced) => this.#await(traced));
  }

  async #await(limits: Limits): Promise<boolean> {
    const { context, identity } = this.#counter;
    if (limits.waitMs === 0) return (await new LatchWait(this.#counter).take(limits)) !== null;
    const isOpen = await context.sharedLooks.among(identity, (sharedLook) =>
      new LatchWait(this.#counter, sharedLook).take(limits),
    );
    // The wake-up may be missing, and the last look may be one poll interval old.
    return isOpen !== null || (await this.getCount()) === 0;
  }

  /**
   * Removes the latch, which opens it.
   *
   * @returns false when there was no latch
   */
  async delete(): Promise<boolean> {
    const { requests, keys, wake } = this.#counter;
    const reply = await requests.change(
      'delete',
      this.#counter.requestWith(countDownLatchDelete, keys, wake),
    );
    this.#counter.changed(reply);
    return reply.status === 'deleted';
  }
}

class LatchCounter extends Counter {
  get keys(): { latch: string } {
    return { latch: this.key };
  }

  /** The command and the channel that wake the waiters. */
  get wake(): { publish: string; channel: string } {
    return { publish: this.context.wire.publish, channel: latchChannel(this.key) };
  }

  /** Reads the count. */
  async look(): Promise<number> {
    const reply = await countDownLatchGetCount.run(this.context.wire.driver, this.keys, {});
    return Math.max(0, reply.left);
  }
}

/** One wait for a latch. A look that finds the latch open takes nothing. */
class LatchWait extends Acquisition<true, number> {
  readonly #counter: LatchCounter;
  readonly #sharedLook: SharedLook | undefined;
  readonly #number: number;
  #cameBefore = 0;

  constructor(counter: LatchCounter, sharedLook?: SharedLook) {
    super(counter.context.runtime, counter.identity);
    this.#counter = counter;
    this.#sharedLook = sharedLook;
    this.#number = sharedLook?.came ?? 0;
  }

  get name(): string {
    return this.#counter.name;
  }

  protected get what(): string {
    return `wait for "${this.#counter.name}"`;
  }

  protected get waiting(): Waiting {
    return { kind: 'messages', channel: this.#counter.wake.channel, pollMs: POLL_MS };
  }

  protected override get isShared(): boolean {
    return true;
  }

  /** The waiters in line may have missed the wake-up: a new waiter looks first, and wakes them if the latch is open. */
  protected override get asksFirst(): boolean {
    return true;
  }

  protected attempt(): Promise<number> {
    if (this.#sharedLook?.isServed(this.#number)) return Promise.resolve(0);
    this.#cameBefore = this.#sharedLook?.came ?? 0;
    return this.#counter.look();
  }

  protected busyMs(left: number): number | undefined {
    return left > 0 ? UNKNOWN_MS : undefined;
  }

  protected accept(): true {
    this.#sharedLook?.serve(this.#cameBefore);
    this.runtime.lines.wake(this.#counter.identity);
    return true;
  }

  protected abandon(): void {}
}
