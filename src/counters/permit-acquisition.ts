/**
 * One call that acquires permits of a semaphore.
 *
 * An attempt is repeated under its own id until the server answers it. The next try is a new attempt with a new id.
 * So at most one attempt at a time has an unknown outcome. If the caller gives up, that attempt is undone: its
 * permits go back, and if it has not run yet, it never will.
 */
import { DriverError } from '../errors.ts';
import { semaphoreChannel } from '../keys.ts';
import { UNANSWERED_MS } from '../requests/answers.ts';
import type { Requests } from '../requests/requests.ts';
import { Acquisition } from '../runtime/acquire.ts';
import type { Waiting } from '../runtime/line.ts';
import { POLL_MS } from '../runtime/poller.ts';
import { LATE_MS } from '../runtime/tombstone.ts';
import { semaphoreAcquire, semaphoreUndo } from '../scripts/generated.ts';
import type { SynchronizerContext } from './synchronizer-context.ts';

/** Where a semaphore is, and how to reach it. */
export interface SemaphorePlace {
  readonly context: SynchronizerContext;
  readonly requests: Requests;
  readonly name: string;
  readonly key: string;
}

type Answer = Awaited<ReturnType<typeof semaphoreAcquire.run>>;

export class PermitAcquisition extends Acquisition<true, Answer> {
  readonly #place: SemaphorePlace;
  readonly #count: number;
  /** The key of the remembered answer, while an attempt is unanswered. */
  #answer: string | undefined;

  constructor(place: SemaphorePlace, count: number) {
    // Small requests do not wait behind large ones: each size has its own line.
    super(place.context.runtime, `semaphore ${place.key} ${count}`);
    this.#place = place;
    this.#count = count;
  }

  protected get what(): string {
    return `acquire ${this.#count} of "${this.#place.name}"`;
  }

  protected get waiting(): Waiting {
    return { kind: 'messages', channel: semaphoreChannel(this.#place.key), pollMs: POLL_MS };
  }

  protected override get isShared(): boolean {
    return true;
  }

  protected override get isBounded(): boolean {
    return this.#place.context.wire.grantSender.isOneCommand(this.#place.key);
  }

  protected attempt(): Promise<Answer> {
    const { context, requests, key, name } = this.#place;
    const { grantSender, rememberMs } = context.wire;
    this.#answer ??= requests.nextAnswerKey();
    // A copy of the attempt may still arrive. Until it cannot, it must find the remembered "too few".
    const shortMs = this.hadTrouble ? Math.max(LATE_MS, rememberMs) : rememberMs;
    const args = { count: this.#count, takenMs: UNANSWERED_MS, shortMs };
    return grantSender.permits({ name, key }, semaphoreAcquire, { permits: key, answer: this.#answer }, args);
  }

  protected busyMs({ status }: Answer): number | undefined {
    if (status === 'taken') return undefined;
    this.#answer = undefined;
    if (status === 'short') return -1;
    // Only a bug in holdfast could repeat an attempt that was given up.
    throw new DriverError(`An attempt to take "${this.#place.name}" is over and was repeated`);
  }

  protected accept(): true {
    const { context, key } = this.#place;
    if (!this.hadTrouble && this.#answer !== undefined) context.answers.arrived(key, this.#answer);
    return true;
  }

  protected abandon(): void {
    const answer = this.#answer;
    if (answer === undefined) return;
    const { context, key, name } = this.#place;
    const { driver, publish } = context.wire;
    const args = { count: this.#count, publish, channel: semaphoreChannel(key), rememberMs: LATE_MS };
    context.runtime.backgroundRetry.settle(`give back permits of "${name}"`, UNANSWERED_MS, async () => {
      const reply = await semaphoreUndo.run(driver, { permits: key, answer }, args);
      if (reply.status === 'returned') context.wire.announced(reply.announced);
    });
  }
}
