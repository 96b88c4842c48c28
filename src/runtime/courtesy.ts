/**
 * How a process leaves others their turn after it has released a lock that several of its tasks wait for.
 *
 * A release tells how many others heard of it. Each of them has one turn before this process attempts again; those who
 * are slow, or do not want the lock any more, are waited for a moment and not longer. Where standing back was in vain,
 * it is left out for a while. So processes go round robin, and the server keeps no state for it.
 */

/** Others have had their chance after this time, whatever they do. */
const LONGEST_MS = 5;

/** What a turn of another process takes. */
const TURN_MS = 1.5;

const MOST_LEFT_OUT = 15;

export class Courtesy {
  #others = 0;
  /** Turns of others that ended since the release. */
  #turns = 0;
  #isStandingBack = false;
  #leaveOut = 0;
  #leaveOutNext = 1;

  /** The lock was released, and so many others heard of it. Answers for how long not to attempt. */
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

  /** Another process has released the lock. Answers for how long not to attempt. */
  turnEnded(): number {
    this.#isStandingBack = false;
    this.#leaveOut = 0;
    this.#leaveOutNext = 1;
    this.#turns += 1;
    return Math.min(Math.max(0, this.#others - this.#turns) * TURN_MS, LONGEST_MS);
  }

  /** This process attempts: if it stood back until now, nobody came. */
  attempting(): void {
    if (!this.#isStandingBack) return;
    this.#isStandingBack = false;
    this.#leaveOut = this.#leaveOutNext;
    this.#leaveOutNext = Math.min(2 * this.#leaveOutNext + 1, MOST_LEFT_OUT);
  }
}
