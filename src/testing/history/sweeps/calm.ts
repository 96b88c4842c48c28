/** When nothing impedes a waiter: no fault is active or has just ended, and its process runs. */
import type { Digest } from '../digest.ts';
import { type Span, Spans } from '../spans.ts';
import type { CheckBounds } from '../verdict.ts';

export class Calm {
  /** The faults, each extended by the time in which it may still have effects. */
  readonly faults: Spans;
  readonly #digest: Digest;

  constructor(digest: Digest, { settleMs }: CheckBounds) {
    this.#digest = digest;
    this.faults = new Spans(
      digest.faults.map(({ fromNs, toNs }) => [fromNs, toNs + settleMs * 1e6] as const),
    );
  }

  /** The first calm interval of a process that is longer than this. */
  longerThan(leastNs: number, proc: string, [fromNs, toNs]: Span): Span | undefined {
    if (toNs - fromNs <= leastNs) return undefined;
    const stalls = this.#digest.stallsOf(proc);
    const stretches = this.faults.gaps(fromNs, toNs).flatMap(([from, to]) => stalls.gaps(from, to));
    return stretches.find(([from, to]) => to - from > leastNs);
  }
}
