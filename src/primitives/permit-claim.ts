/**
 * The attempts of one call to take expiring permits, for the engine that repeats them.
 *
 * All attempts ask for the same ids, so that none takes more than once. What a call that gives up may have
 * taken, or may yet take, is undone in the background.
 */
import { mayHaveRun } from '../drivers/outcome.ts';
import type { Busy, Contest, Granted, Waiting } from '../runtime/acquire.ts';
import { LATE_MS } from '../runtime/bar.ts';
import { POLL_MS } from '../runtime/poll.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { assertInTime, type Grant } from '../runtime/tenure.ts';
import { UNANSWERED_MS } from './answers.ts';
import { newPermitId, type PermitProtocol } from './permit-protocol.ts';

const TAKEN: Granted<true> = { granted: true, value: true };
const GIVEN_UP: Busy = { granted: false, remainingMs: -1 };

export class PermitClaim implements Contest<true> {
  readonly what: string;
  readonly waiting: Waiting;
  readonly #runtime: Runtime;
  readonly #protocol: PermitProtocol;
  readonly #leaseMs: number;
  readonly #ids: readonly string[];
  /** When the attempt was sent that took them. */
  #sentAt: number | undefined;
  /** Whether an attempt before that one was never answered. */
  #isDoubtful = false;
  /** An attempt may have taken them, or may yet. */
  #mayBeTaken = false;
  #isOver = false;

  constructor(runtime: Runtime, protocol: PermitProtocol, count: number, leaseMs: number) {
    this.#runtime = runtime;
    this.#protocol = protocol;
    this.#leaseMs = leaseMs;
    this.#ids = Array.from({ length: count }, newPermitId);
    this.what = `acquire ${count} of "${protocol.name}"`;
    this.waiting = { kind: 'messages', channel: protocol.channel, pollMs: POLL_MS, shared: true };
  }

  async attempt(): Promise<Granted<true> | Busy> {
    const mightBeTaken = this.#mayBeTaken;
    this.#mayBeTaken = true;
    const sentAt = this.#runtime.leaseClock.sendTime();
    try {
      const answer = await this.#protocol.acquire(this.#ids, this.#leaseMs);
      if (this.#isOver) return GIVEN_UP;
      if (answer.status === 'taken') {
        this.#sentAt = sentAt;
        this.#isDoubtful = mightBeTaken;
        return TAKEN;
      }
      // An earlier attempt that got no answer may still be on its way.
      this.#mayBeTaken = mightBeTaken;
      return { granted: false, remainingMs: answer.remainingMs };
    } catch (error) {
      if (!mayHaveRun(error)) this.#mayBeTaken = mightBeTaken;
      throw error;
    }
  }

  /**
   * Hands over what was taken: from here on it is somebody's, and not undone.
   *
   * @throws LeaseLostError when it was taken too late
   */
  collect(): Grant[] {
    const sentAt = this.#sentAt;
    if (sentAt === undefined || this.#isOver) throw new Error('nothing was taken');
    const terms = { sentAt, leaseMs: this.#leaseMs, doubtful: this.#isDoubtful };
    const grants = this.#ids.map((owner) => ({ owner, ...terms }));
    // One attempt took them all: what is said of the first is said of each.
    assertInTime(this.#runtime, this.#protocol, grants[0] as Grant);
    this.#isOver = true;
    return grants;
  }

  /** Undoes what may have been taken and was not collected. Calling it again does nothing. */
  abandon(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#mayBeTaken) return;
    const { name } = this.#protocol;
    // Should the undoing come to nothing for that long, a lease ends by itself; what has none is worth trying on.
    const forMs = Math.min(this.#leaseMs, UNANSWERED_MS);
    this.#runtime.settler.settle(`give back permits of "${name}"`, forMs, () =>
      this.#protocol.undo(this.#ids, forMs + LATE_MS),
    );
  }
}
