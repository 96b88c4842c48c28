/**
 * How long a tenure can be relied on: for the lease that the server has confirmed, and not longer than one grace
 * after its last word, where the server may forget what it said.
 *
 * Keeps times only. What follows when they have passed is left to the tenure.
 */
import { deadlineOf } from './lease.ts';

export class Term {
  readonly #graceMs: number;
  /** When the lease that the server last confirmed ends there, and how long it was. */
  #leaseEndsAt = 0;
  #leaseMs = 0;
  #leaseDeadline = 0;
  /** When the last lease that the server may have given ends there, whether or not it has answered. */
  #mayEndAt = 0;
  #longestMs = 0;
  /** When somebody else may be let in for want of another word. */
  #wordEndsAt = 0;
  #wordDeadline = 0;

  /** @param graceMs for how long a word counts; infinite where it is final */
  constructor(graceMs: number, sentAt: number, leaseMs: number) {
    this.#graceMs = graceMs;
    this.confirmed(sentAt, leaseMs);
    this.relyOn(sentAt, leaseMs);
  }

  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** The longest lease that was ever asked for. */
  get longestMs(): number {
    return this.#longestMs;
  }

  get leaseEndsAt(): number {
    return this.#leaseEndsAt;
  }

  /** When the holder must have stopped. */
  get deadline(): number {
    return Math.min(this.#leaseDeadline, this.#wordDeadline);
  }

  /** When somebody else may be let in, by all that the holder knew. */
  get endsAt(): number {
    return Math.min(this.#leaseEndsAt, this.#wordEndsAt);
  }

  /** Whether the server may go on keeping it when it can be relied on no more. */
  get mayStandOn(): boolean {
    return this.#mayEndAt > this.endsAt;
  }

  /** A lease is being asked for. Should the answer be lost, the server may have given it all the same. */
  asked(sentAt: number, leaseMs: number): void {
    this.#mayEndAt = Math.max(this.#mayEndAt, sentAt + leaseMs);
    this.#longestMs = Math.max(this.#longestMs, leaseMs);
  }

  /** A lease that was asked for then is there, whether or not anybody still wants it. */
  confirmed(sentAt: number, leaseMs: number): void {
    this.asked(sentAt, leaseMs);
    this.#leaseEndsAt = Math.max(this.#leaseEndsAt, sentAt + leaseMs);
    this.#leaseMs = Math.max(this.#leaseMs, leaseMs);
  }

  /**
   * The holder goes on by what the server said to what was sent then. Within a grace the server lets nobody else in,
   * nor within the lease it was asked for; of a longer one, given by another server before, it may know nothing.
   */
  relyOn(sentAt: number, leaseMs: number): void {
    const reliableMs = Math.min(leaseMs, this.#graceMs);
    this.#leaseDeadline = Math.max(this.#leaseDeadline, deadlineOf(sentAt, leaseMs));
    this.#wordDeadline = Math.max(this.#wordDeadline, deadlineOf(sentAt, reliableMs));
    this.#wordEndsAt = Math.max(this.#wordEndsAt, sentAt + reliableMs);
  }
}
