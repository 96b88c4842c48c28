/**
 * One call that acquires a number of permits: what semaphores and rate limiters have in common.
 *
 * Subclasses say how to attempt and how to undo an attempt. The undo runs in the background until the server answers.
 */
import { tracesAcquisitions } from '../channels.ts';
import { DriverError } from '../errors.ts';
import type { PrimitiveKind } from '../events.ts';
import { UNANSWERED_MS } from '../requests/answer-retention.ts';
import { Acquisition } from '../runtime/acquire.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Limits } from '../runtime/wait-budget.ts';
import { traceAcquire } from '../tracing.ts';

/** What an acquisition needs to know of its counter. */
interface Acquired {
  readonly kind: PrimitiveKind;
  readonly name: string;
  readonly identity: string;
}

/** Names a number of permits in messages: `a permit of "jobs"`, `3 permits of "jobs"`. */
export function permitsOf(name: string, count: number): string {
  return `${count === 1 ? 'a permit' : `${count} permits`} of "${name}"`;
}

/**
 * The line of the callers that wait for this many permits; for '', the prefix of all these lines. Small requests do
 * not wait behind large ones: each size has its own line.
 */
export function lineFor({ identity }: Pick<Acquired, 'identity'>, count: number | ''): string {
  return `${identity} ${count}`;
}

export abstract class CounterAcquisition<T, A> extends Acquisition<T, A> {
  protected readonly count: number;
  readonly kind: PrimitiveKind;
  readonly name: string;

  constructor(runtime: Runtime, counter: Acquired, count: number) {
    super(runtime, lineFor(counter, count));
    this.count = count;
    this.kind = counter.kind;
    this.name = counter.name;
  }

  override take(limits: Limits): Promise<T | null> {
    if (limits.trace !== undefined || !tracesAcquisitions()) return super.take(limits);
    const { kind, name, count: permits } = this;
    return traceAcquire(this.runtime, { kind, name, permits }, limits, (traced) => super.take(traced));
  }

  protected get what(): string {
    return `acquire ${permitsOf(this.name, this.count)}`;
  }

  protected override get isShared(): boolean {
    return true;
  }

  /** Undoes attempts in the background; `undo` is repeated for at most this time. */
  protected giveBack(undo: () => Promise<void>, forMs = UNANSWERED_MS): void {
    this.runtime.backgroundRetry.repeatUntilAnswered(`return permits of "${this.name}"`, forMs, undo);
  }

  /** The server says that the attempt was given up. Only a bug in holdfast could repeat it. */
  protected repeated(): DriverError {
    return new DriverError(
      `An attempt to acquire permits of "${this.name}" was repeated after it had been given up`,
    );
  }
}
