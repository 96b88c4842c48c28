/**
 * Bounds how many commands a second are sent: a bucket that fills steadily, and a queue for what it does not cover yet.
 */

/**
 * What the bucket holds at most, as a part of a second: so long may it be silent and then catch up. It fills that much
 * slower, so that no second has more than its number.
 */
const BURST_SECONDS = 0.1;

/** Shorter timers are not worth their cost. */
const TICK_MS = 10;

/** The rate that is shown is that of the last seconds. */
const MEASURED_SECONDS = 5;

class BudgetClosedError extends Error {
  override readonly name = 'BudgetClosedError';
  override readonly message = 'The dashboard is closed';
}

export class CommandBudget {
  readonly #waiting: { resolve(): void; reject(reason: Error): void }[] = [];
  /** How many were sent in each of the last seconds, by that second. */
  readonly #sent = new Map<number, number>();
  #perSecond: number;
  #filled: number;
  #filledAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#filled = 1;
  }

  /** From now on so many. */
  set perSecond(perSecond: number) {
    this.#fill();
    this.#perSecond = perSecond;
    this.#filled = Math.min(this.#filled, this.#most);
  }

  /** Resolves when the next command may be sent, in the order of the calls. */
  take(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new BudgetClosedError());
    this.#fill();
    if (this.#waiting.length === 0 && this.#filled >= 1) {
      this.#spend();
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#arm();
    });
  }

  /** Nothing more may be sent. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { reject } of this.#waiting.splice(0)) reject(new BudgetClosedError());
  }

  /** How many a second, on average of the last seconds. */
  measured(): number {
    const second = Math.floor(performance.now() / 1_000);
    let sum = 0;
    for (const [at, sent] of this.#sent) {
      if (at < second - MEASURED_SECONDS) this.#sent.delete(at);
      else if (at < second) sum += sent;
    }
    return Math.round(sum / MEASURED_SECONDS);
  }

  get #most(): number {
    return Math.max(1, this.#perSecond * BURST_SECONDS);
  }

  get #steady(): number {
    return this.#perSecond * (1 - BURST_SECONDS);
  }

  #fill(): void {
    const now = performance.now();
    const grown = ((now - this.#filledAt) / 1_000) * this.#steady;
    this.#filled = Math.min(this.#most, this.#filled + grown);
    this.#filledAt = now;
  }

  #spend(): void {
    this.#filled -= 1;
    const second = Math.floor(this.#filledAt / 1_000);
    this.#sent.set(second, (this.#sent.get(second) ?? 0) + 1);
    if (this.#sent.size > 2 * MEASURED_SECONDS) this.measured();
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#waiting.length === 0) return;
    const missingMs = ((1 - this.#filled) / this.#steady) * 1_000;
    this.#timer = setTimeout(() => this.#serve(), Math.max(TICK_MS, missingMs)).unref();
  }

  #serve(): void {
    this.#timer = undefined;
    this.#fill();
    const served = Math.min(this.#waiting.length, Math.floor(this.#filled));
    for (const { resolve } of this.#waiting.splice(0, served)) {
      this.#spend();
      resolve();
    }
    this.#arm();
  }
}
