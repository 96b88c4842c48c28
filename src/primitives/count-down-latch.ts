/**
 * The count-down latch: closed with a count, open for everybody once that many have counted down.
 *
 * Waiting is the runtime's. One look that finds the latch open lets in everybody who waited before it.
 */
import { latchChannel } from '../keys.ts';
import { checkCount, checkOptions } from '../options.ts';
import { acquire, type Busy, type Contest, type Granted } from '../runtime/acquire.ts';
import { POLL_MS } from '../runtime/poll.ts';
import {
  countDownLatchCountDown,
  countDownLatchDelete,
  countDownLatchGetCount,
  countDownLatchTrySetCount,
} from '../scripts/generated.ts';
import { attemptBeside, type Crowd } from './crowd.ts';
import { type Memory, Requests, type SynchronizerContext } from './requests.ts';

const OPEN: Granted<true> = { granted: true, value: true };
const CLOSED: Busy = { granted: false, remainingMs: -1 };

/** How to wait for a latch. */
export interface AwaitOptions {
  /** How long to wait at most; left out, as long as it takes. */
  waitMs?: number | undefined;
  /** Stops the waiting; the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Whether a latch of that key can live in a Cluster. Redisson puts the channel of a latch in braces of its own,
 * so with braces in the name, channel and key fall into different slots, where no script reaches both.
 */
export function latchFitsCluster(key: string): boolean {
  return !/[{}]/.test(key);
}

/**
 * A gate that opens when enough have counted down, made by `client.getCountDownLatch(name)`.
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
   * @returns false: it is closed already, and was left as it is
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
   * Counts down by one; the last one opens the latch. An open latch stays as it is.
   *
   * @throws OutcomeUnknownError when the server did not answer in time; the call goes on in the background and
   * takes effect once
   */
  async countDown(): Promise<void> {
    this.#context.runtime.assertOpen();
    const reply = await this.#requests.owe('count down', (memory) =>
      countDownLatchCountDown.run(...this.#call(memory, {})),
    );
    if (reply.status === 'opened') this.#context.wire.announced(reply.announced);
  }

  /** How many are still to count down; 0 when the latch is open, or was never closed. */
  async getCount(): Promise<number> {
    return this.#requests.read('ask for the count of', () => this.#look());
  }

  /**
   * Waits until the latch is open.
   *
   * @returns false: it was not within `waitMs`
   */
  async await(options?: AwaitOptions): Promise<boolean> {
    const { waitMs = Number.POSITIVE_INFINITY, signal } = checkOptions('awaitLatch', options);
    const { runtime, crowds } = this.#context;
    runtime.assertOpen();
    using patience = runtime.patience(waitMs, signal);
    if (waitMs === 0) {
      return (await acquire(this.#contest(), runtime.line(null), patience, runtime)).granted;
    }
    const line = `count-down-latch ${this.#key}`;
    const hasOthers = crowds.has(line);
    const isOpen = await crowds.among(line, async (crowd) => {
      const contest = this.#contest(crowd);
      // Those who wait may not have heard of the opening: a newcomer looks before it joins them, and tells them.
      const { endsAt } = patience;
      if (hasOthers && (await attemptBeside(contest, patience, runtime.clock, endsAt)) === 'granted') {
        runtime.look(line);
        return true;
      }
      return (await acquire(contest, runtime.line(line), patience, runtime)).granted;
    });
    // Nobody may have told of the opening, and the last look may be a poll ago.
    return isOpen || (await this.getCount()) === 0;
  }

  /**
   * Removes the latch, which opens it.
   *
   * @returns false: there was none
   */
  async delete(): Promise<boolean> {
    const reply = await this.#requests.change('delete', (memory) =>
      countDownLatchDelete.run(...this.#call(memory, {})),
    );
    if (reply.status === 'deleted') this.#context.wire.announced(reply.announced);
    return reply.status === 'deleted';
  }

  #contest(crowd?: Crowd): Contest<true> {
    const place = crowd?.came ?? 0;
    return {
      what: `wait for "${this.name}"`,
      waiting: {
        kind: 'messages',
        channel: latchChannel(this.#key),
        pollMs: POLL_MS,
        shared: true,
      },
      attempt: async () => {
        if (crowd?.isServed(place)) return OPEN;
        const came = crowd?.came ?? 0;
        if ((await this.#look()) > 0) return CLOSED;
        crowd?.serve(came);
        return OPEN;
      },
      // Looking takes nothing.
      abandon: () => undefined,
    };
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
