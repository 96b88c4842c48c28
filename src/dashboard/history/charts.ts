/**
 * The figures of the last hour, in steps. What a step counts comes from the clients of this process; what it measures
 * comes from looks at the server.
 */
import type { AcquireMessage } from '../../channels.ts';
import type { ChartPoint } from '../protocol.ts';
import { Ring } from './ring.ts';

export const CHART_STEP_MS = 10_000;
const HOUR_MS = 3_600_000;
/** The most waits of a step that are kept; beyond, a random choice of them. */
const MOST_WAITS = 1_000;

/** What is measured at the end of a step. */
export type Measured = Pick<ChartPoint, 'held' | 'waitedFor' | 'waiting'>;

export class Charts {
  readonly #points = new Ring<ChartPoint>(HOUR_MS / CHART_STEP_MS);
  /** Whether a client of this process has told anything. */
  #isTold = false;
  #waits: number[] = [];
  #acquired = 0;
  #contended = 0;
  #timeouts = 0;
  #losses = 0;

  /** Oldest first. */
  points(): ChartPoint[] {
    return this.#points.all();
  }

  /** A call has ended. */
  ended({ outcome, waitedMs, contended }: AcquireMessage): void {
    this.#isTold = true;
    this.#acquired += 1;
    if (contended === true) this.#contended += 1;
    if (outcome === 'timeout') this.#timeouts += 1;
    if (waitedMs !== undefined) this.#sample(waitedMs);
  }

  lost(): void {
    this.#isTold = true;
    this.#losses += 1;
  }

  /** Ends a step. */
  step(at: number, measured: Measured): ChartPoint {
    const waits = this.#waits.sort((one, other) => one - other);
    const point: ChartPoint = {
      at,
      ...measured,
      acquired: this.#told(this.#acquired),
      contended: this.#told(this.#contended),
      timeouts: this.#told(this.#timeouts),
      losses: this.#told(this.#losses),
      waitP50: quantile(waits, 0.5),
      waitP95: quantile(waits, 0.95),
    };
    this.#points.add(point);
    this.#waits = [];
    this.#acquired = this.#contended = this.#timeouts = this.#losses = 0;
    return point;
  }

  #told(count: number): number | null {
    return this.#isTold ? count : null;
  }

  /** Keeps every wait with the same probability. */
  #sample(waitedMs: number): void {
    if (this.#waits.length < MOST_WAITS) {
      this.#waits.push(waitedMs);
      return;
    }
    const at = Math.floor(Math.random() * this.#acquired);
    if (at < MOST_WAITS) this.#waits[at] = waitedMs;
  }
}

/** @param sorted the smallest first */
function quantile(sorted: readonly number[], part: number): number | null {
  const value = sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)];
  return value === undefined ? null : Math.round(value * 10) / 10;
}
