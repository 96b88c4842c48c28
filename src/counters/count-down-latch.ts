/**
 * The count-down latch: it is closed with a count and opens when the count reaches 0.
 *
 * The runtime does the waiting. One look that finds the latch open releases every waiter that came before that look.
 */
import { latchChannel } from '../keys.ts';
import { checkCount, checkOptions } from '../options/checks.ts';
import { type Memory, Requests } from '../requests/requests.ts';
import { Acquisition } from '../runtime/acquire.ts';
import type { Waiting } from '../runtime/line.ts';
import { POLL_MS } from '../runtime/poller.ts';
import type { Runtime } from '../runtime/runtime.ts';
import {
  countDownLatchCountDown,
  countDownLatchDelete,
  countDownLatchGetCount,
  countDownLatchTrySetCount,
} from '../scripts/generated.ts';
import type { SharedLook } from './shared-look.ts';
import type { SynchronizerContext } from './synchronizer-context.ts';

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
  readonly #context: SynchronizerContext;
  readonly #requests: Requests;
  readonly #key: string;

  /** @internal */
  constructor(context: SynchronizerContext, name: string) {
    this.name = name;
    this.#context = context;
    this.#key = context.wire.rawName(name);
    this.#requests = new Requests(context, name, this.#key);
  }

  /**
   * Closes the latch with a count of 1 or more.
   *
   * @returns false when the latch is already closed; its count stays as it is
   */
  async trySetCount(count: number): Promise<boolean> {
    checkCount(count, 'count', 1);
    const reply = await this.#requests.change('set the count of', (memory) =>
      countDownLatchTrySetCount.run(...this.#call(memory, { count })),
    );
    if (reply.status === 'set') this.#context.wire.announced(reply.announced);
    return reply.status === 'set';
  }

  /**
   * Counts down by one; the last call opens the latch. An open latch stays open.
   *
   * @throws OutcomeUnknownError when the server did not answer in time; the client retries in the background, and the
   * call takes effect once
   */
  async countDown(): Promise<void> {
    this.#context.runtime.assertOpen();
    const reply = await this.#requests.owe('count down', (memory) =>
      countDownLatchCountDown.run(...this.#call(memory, {})),
    );
    if (reply.status === 'opened') this.#context.wire.announced(reply.announced);
  }

  /** The count; 0 when the latch is open or was never closed. */
  async getCount(): Promise<number> {
    return this.#requests.read('ask for the count of', () => this.#look());
  }

  /**
   * Waits until the latch is open.
   *
   * @returns false when the latch did not open within `waitMs`
   */
  async await(options?: AwaitOptions): Promise<boolean> {
    const { waitMs = Number.POSITIVE_INFINITY, signal } = checkOptions('awaitLatch', options);
    const { runtime, sharedLooks } = this.#context;
    const line = `count-down-latch ${this.#key}`;
    const place = {
      runtime,
      line,
      name: this.name,
      channel: latchChannel(this.#key),
      look: () => this.#look(),
    };
    if (waitMs === 0) return (await new LatchWait(place).take({ waitMs, signal })) !== null;
    const isOpen = await sharedLooks.among(line, (sharedLook) =>
      new LatchWait(place, sharedLook).take({ waitMs, signal }),
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
    const reply = await this.#requests.change('delete', (memory) =>
      countDownLatchDelete.run(...this.#call(memory, {})),
    );
    if (reply.status === 'deleted') this.#context.wire.announced(reply.announced);
    return reply.status === 'deleted';
  }

  async #look(): Promise<number> {
    const reply = await countDownLatchGetCount.run(this.#context.wire.driver, { latch: this.#key }, {});
    return Math.max(0, reply.left);
  }

  #call<Args>({ answer, rememberMs }: Memory, args: Args) {
    const { driver, publish } = this.#context.wire;
    const channel = latchChannel(this.#key);
    return [driver, { latch: this.#key, answer }, { ...args, publish, channel, rememberMs }] as const;
  }
}

interface LatchPlace {
  readonly runtime: Runtime;
  readonly line: string;
  readonly name: string;
  readonly channel: string;
  /** Reads the count. */
  look(): Promise<number>;
}

/** One wait for a latch. A look that finds the latch open takes nothing. */
class LatchWait extends Acquisition<true, number> {
  readonly #place: LatchPlace;
  readonly #sharedLook: SharedLook | undefined;
  readonly #number: number;
  #cameBefore = 0;

  constructor(place: LatchPlace, sharedLook?: SharedLook) {
    super(place.runtime, place.line);
    this.#place = place;
    this.#sharedLook = sharedLook;
    this.#number = sharedLook?.came ?? 0;
  }

  protected get what(): string {
    return `wait for "${this.#place.name}"`;
  }

  protected get waiting(): Waiting {
    return { kind: 'messages', channel: this.#place.channel, pollMs: POLL_MS };
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
    return this.#place.look();
  }

  protected busyMs(left: number): number | undefined {
    return left > 0 ? -1 : undefined;
  }

  protected accept(): true {
    this.#sharedLook?.serve(this.#cameBefore);
    this.runtime.lines.wake(this.#place.line);
    return true;
  }

  protected abandon(): void {}
}
