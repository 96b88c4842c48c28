/**
 * One call that acquires permits of a semaphore.
 *
 * An attempt is repeated under its own id until the server answers it. The next try is a new attempt with a new id.
 * So at most one attempt at a time has an unknown outcome. If the caller gives up, that attempt is undone: its
 * permits go back, and if it has not run yet, it never will. The same happens when the server has not answered it for an
 * hour, because the server does not remember an answer forever: a later repeat could take permits a second time.
 */

import { serverTime } from '../clock.ts';
import { DriverError } from '../errors.ts';
import { retainedMs, UNANSWERED_MS } from '../requests/answer-retention.ts';
import { UNKNOWN_MS, type Waiting } from '../runtime/protocol.ts';
import { LATE_MS } from '../runtime/tombstone.ts';
import { POLL_MS } from '../runtime/wake/poller.ts';
import { semaphoreAcquire, semaphoreUndo } from '../scripts/generated.ts';
import { CounterAcquisition } from './counter-acquisition.ts';
import type { PermitSection } from './permit-section.ts';
import type { SemaphoreCounter } from './semaphore-counter.ts';
import type { SemaphoreCreation } from './semaphore-creation.ts';

type Answer = Awaited<ReturnType<typeof semaphoreAcquire.run>>;

export class SemaphoreAcquisition extends CounterAcquisition<PermitSection | true, Answer> {
  readonly #counter: SemaphoreCounter;
  readonly #creation: SemaphoreCreation;
  /** The key of the remembered answer, while an attempt is unanswered. */
  #answer: string | undefined;
  /** When that attempt was first sent, as the server counts time. */
  #firstSentAt = 0;
  #isGivenUp = false;
  readonly #section: PermitSection | undefined;

  /** @param section what the call results in; true without one */
  constructor(
    counter: SemaphoreCounter,
    creation: SemaphoreCreation,
    count: number,
    section: PermitSection | undefined,
  ) {
    super(counter.context.runtime, counter, count);
    this.#counter = counter;
    this.#creation = creation;
    this.#section = section;
  }

  protected get waiting(): Waiting {
    return { kind: 'messages', channel: this.#counter.wake.channel, pollMs: POLL_MS };
  }

  protected override get isBounded(): boolean {
    return !this.#creation.creates && this.#counter.context.wire.grantSender.isOneCommand(this.#counter.key);
  }

  protected attempt(isDoubtful: boolean): Promise<Answer> {
    return this.#creation.attempt(
      () => this.#ask(isDoubtful),
      () => {
        // The caller gave up meanwhile: this attempt would take permits for nobody.
        if (this.#isGivenUp) throw this.repeated();
        // The answer of the first attempt is final.
        this.#answer = undefined;
        return this.#ask(isDoubtful);
      },
    );
  }

  #ask(isDoubtful: boolean): Promise<Answer> {
    const { context, requests, keys } = this.#counter;
    const { grantSender, rememberMs } = context.wire;
    const now = serverTime(this.runtime.clock);
    if (this.#answer === undefined || !isDoubtful) {
      this.#answer = requests.nextAnswerKey();
      this.#firstSentAt = now;
    } else if (now - this.#firstSentAt >= UNANSWERED_MS) {
      throw new DriverError('the attempt was repeated for an hour, and the server did not answer');
    }
    // A copy of the attempt may still arrive. Until it cannot, it must find the remembered "too few".
    const shortMs = isDoubtful ? Math.max(LATE_MS, rememberMs) : rememberMs;
    // The attempt is repeated for an hour, and undoing it for another.
    const args = { count: this.count, takenMs: retainedMs(rememberMs, 2 * UNANSWERED_MS), shortMs };
    return grantSender.permits(this.#counter, semaphoreAcquire, { ...keys, answer: this.#answer }, args);
  }

  protected busyMs({ status }: Answer): number | undefined {
    if (status === 'taken') return undefined;
    this.#answer = undefined;
    if (status === 'short') return UNKNOWN_MS;
    if (status === 'missing') {
      this.#creation.missing();
      return UNKNOWN_MS;
    }
    throw this.repeated();
  }

  protected accept(_answer: Answer, isDoubtful: boolean): PermitSection | true {
    const { context, key } = this.#counter;
    if (!isDoubtful && this.#answer !== undefined) context.answerRetention.arrived(key, this.#answer);
    return this.#section ?? true;
  }

  protected abandon(): void {
    this.#isGivenUp = true;
    const answer = this.#answer;
    if (answer === undefined) return;
    const undo = this.#counter.requestWith(semaphoreUndo, this.#counter.keys, {
      count: this.count,
      ...this.#counter.wake,
    });
    this.giveBack(async () => this.#counter.changed(await undo({ answer, rememberMs: LATE_MS })));
  }
}
