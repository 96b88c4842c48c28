/**
 * The states of one dedicated connection: opening, open, over.
 *
 * Client libraries report a broken connection by several events, in varying order, and some report it twice. This class
 * reduces them to the contract of `Driver.openConnection`: while opening, the first failure rejects; once open, it is
 * reported exactly once; after `destroy()`, never. The adapters decide how to drop the connection and what counts as a
 * failure.
 */
import type { ConnectionEvents } from './driver.ts';

export class ConnectionState {
  #isOpen = false;
  /** Why the connection ended; undefined until then. */
  #end: Error | undefined;
  #rejectOpening: (reason: Error) => void = () => {};
  readonly #drop: () => void;
  readonly #onDown: ConnectionEvents['onDown'];

  constructor(drop: () => void, onDown: ConnectionEvents['onDown']) {
    this.#drop = drop;
    this.#onDown = onDown;
  }

  /** Waits for the steps that make the connection usable, or for the first failure. */
  async open(steps: Promise<unknown>): Promise<void> {
    // Libraries reject a failed connect() with a bare "closed"; the event before it has the reason.
    const failed = new Promise<never>((_, reject) => {
      this.#rejectOpening = reject;
    });
    try {
      await Promise.race([failed, steps]);
    } catch (error) {
      this.destroy();
      throw error;
    }
    // A break between the last step and this line was not reported to the caller.
    this.assertAlive();
    this.#isOpen = true;
  }

  /** Throws when the connection is over: node-redis would queue a command and never send it. */
  assertAlive(): void {
    if (this.#end !== undefined) throw this.#end;
  }

  /** The connection broke. */
  fail(reason: Error): void {
    if (this.#endWith(reason) && this.#isOpen) this.#onDown(reason);
  }

  /** The driver drops the connection. */
  destroy(): void {
    this.#endWith(new Error('The client closed its dedicated connection'));
  }

  #endWith(reason: Error): boolean {
    if (this.#end !== undefined) return false;
    this.#end = reason;
    this.#rejectOpening(reason);
    this.#drop();
    return true;
  }
}

/** The dedicated connections of one driver. Closing the driver drops all of them, including those still opening. */
export class ConnectionStates {
  readonly #alive = new Set<ConnectionState>();
  #isOver = false;

  /** All were destroyed; no new one may be opened. */
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

  /** Fails all connections, including those still opening. New ones may be opened. */
  failAll(reason: Error): void {
    for (const connectionState of [...this.#alive]) connectionState.fail(reason);
  }

  destroyAll(): void {
    this.#isOver = true;
    for (const connectionState of this.#alive) connectionState.destroy();
  }
}
