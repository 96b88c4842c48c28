/**
 * The life of one dedicated connection: opening, open, over.
 *
 * Client libraries report a broken connection by several events, in an order of their own, and some
 * report it twice. This folds them into the promise of `Driver.openConnection`: while opening, the first
 * failure rejects; once open, it is told exactly once; after `destroy()`, never. How to drop the
 * connection and what counts as a failure is left to the adapters.
 */
import type { ConnectionEvents } from './driver.ts';

export class ConnectionState {
  #isOpen = false;
  /** Why it is over; undefined until then. */
  #end: Error | undefined;
  #rejectOpening: (reason: Error) => void = () => {};
  readonly #drop: () => void;
  readonly #onDown: ConnectionEvents['onDown'];

  constructor(drop: () => void, onDown: ConnectionEvents['onDown']) {
    this.#drop = drop;
    this.#onDown = onDown;
  }

  /** Waits for the steps that make the connection usable, or for the first failure, whichever is first. */
  async open(steps: Promise<unknown>): Promise<void> {
    // Libraries reject a failed connect() with a bare "closed"; the event before it says why.
    const failed = new Promise<never>((_, reject) => {
      this.#rejectOpening = reject;
    });
    try {
      await Promise.race([failed, steps]);
    } catch (error) {
      this.destroy();
      throw error;
    }
    // It may have broken after the last step and before this line, when nobody was told.
    this.assertAlive();
    this.#isOpen = true;
  }

  /** Throws when the connection is over: node-redis would queue a command that is never sent. */
  assertAlive(): void {
    if (this.#end !== undefined) throw this.#end;
  }

  /** The connection broke. */
  fail(reason: Error): void {
    if (this.#endWith(reason) && this.#isOpen) this.#onDown(reason);
  }

  /** We drop the connection. */
  destroy(): void {
    this.#endWith(new Error('The dedicated connection was closed by us'));
  }

  #endWith(reason: Error): boolean {
    if (this.#end !== undefined) return false;
    this.#end = reason;
    this.#rejectOpening(reason);
    this.#drop();
    return true;
  }
}

/** The dedicated connections of one driver, so that closing it drops them all, also those still opening. */
export class ConnectionStates {
  readonly #alive = new Set<ConnectionState>();
  #isOver = false;

  /** All were destroyed, and none may follow them. */
  get isOver(): boolean {
    return this.#isOver;
  }

  add(drop: () => void, onDown: ConnectionEvents['onDown']): ConnectionState {
    const connectionState = new ConnectionState(() => {
      this.#alive.delete(connectionState);
      drop();
    }, onDown);
    this.#alive.add(connectionState);
    return connectionState;
  }

  /** All of them broke, also those still opening; others may follow. */
  failAll(reason: Error): void {
    for (const connectionState of [...this.#alive]) connectionState.fail(reason);
  }

  destroyAll(): void {
    this.#isOver = true;
    for (const connectionState of this.#alive) connectionState.destroy();
  }
}
