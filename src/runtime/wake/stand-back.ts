/**
 * Round robin between processes: after a release, the waiters of this process stand back for others.
 *
 * The answer to a release says how many others heard of it. Each of them gets one turn before this process attempts
 * again; a process that is slow, or no longer wants the lock, gets only a moment. After standing back in vain, this
 * process skips it for a while. The server keeps no state for this.
 */

/** The longest time to stand back, whatever the others do. */
const LONGEST_MS = 5;

/** How long a turn of another process takes. */
const TURN_MS = 1.5;

const MOST_LEFT_OUT = 15;

export class StandBack {
  #others = 0;
  /** Turns of others that ended since the release. */
  #turns = 0;
  #isStandingBack = false;
  #leaveOut = 0;
  #leaveOutNext = 1;

  /** This process released the lock, and `others` heard of it. Returns for how long not to attempt. */
  released(others: number): number {
    this.#others = others;
    this.#turns = 0;
    this.#isStandingBack = false;
    if (others <= 0) return 0;
    if (this.#leaveOut > 0) {
      this.#leaveOut -= 1;
      return 0;
    }
    this.#isStandingBack = true;
    return LONGEST_MS;
  }

  /** Another process has released the lock. Returns for how long not to attempt. */
  turnEnded(): number {
    this.#isStandingBack = false;
    this.#leaveOut = 0;
    this.#leaveOutNext = 1;
    this.#turns += 1;
    return Math.min(Math.max(0, this.#others - this.#turns) * TURN_MS, LONGEST_MS);
  }

  /** This process attempts: if it stood back until now, it did so in vain. */
  attempting(): void {
    if (!this.#isStandingBack) return;
    this.#isStandingBack = false;
    this.#leaveOut = this.#leaveOutNext;
    this.#leaveOutNext = Math.min(2 * this.#leaveOutNext + 1, MOST_LEFT_OUT);
  }
}
