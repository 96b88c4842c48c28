/**
 * The wall clock of a server, which faults move.
 *
 * Fencing tokens come from this clock when the server has forgotten the last one. A server that forgets while its clock
 * is behind what it once showed would hand out lower tokens, which no client can prevent. So the faults that forget and
 * the faults that move the clock ask here first.
 */
import type { MovableClock } from '../../tests/harness/clock-shim.ts';

export class ServerClock {
  readonly #clock: MovableClock | undefined;
  #shiftMs = 0;
  #latestMs = 0;
  #forgotAtMs = 0;

  /** Without a clock to move, it stays where it is. */
  constructor(clock?: MovableClock) {
    this.#clock = clock;
  }

  /** Sets the clock this far from the real one, unless tokens could fall by it; answers whether it did. */
  async move(byMs: number): Promise<boolean> {
    if (this.#clock === undefined || Date.now() + byMs < this.#forgotAtMs) return false;
    this.#latestMs = this.#highest();
    await this.#clock.shift(byMs);
    this.#shiftMs = byMs;
    return true;
  }

  /** Puts the clock right, whatever happened meanwhile. */
  async reset(): Promise<void> {
    if (this.#shiftMs === 0) return;
    this.#latestMs = this.#highest();
    await this.#clock?.shift(0);
    this.#shiftMs = 0;
  }

  /** Notes that the server is about to forget, unless tokens could fall by it; answers whether it may. */
  forget(): boolean {
    // A clock that is ahead will be put right, and then shows less than the tokens that were forgotten.
    if (this.#shiftMs !== 0 || Date.now() < this.#latestMs) return false;
    this.#forgotAtMs = Date.now();
    return true;
  }

  #highest(): number {
    return Math.max(this.#latestMs, Date.now() + this.#shiftMs);
  }
}
