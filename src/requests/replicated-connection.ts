/**
 * Sends scripts to one server on a separate connection, in batches, each followed by a WAIT.
 *
 * WAIT blocks its connection and covers only the writes of that connection. Scripts that arrive during a WAIT form
 * the next batch: however many there are, each waits for two WAITs at most.
 */
import type { Connection, Driver, ScriptArgument, ScriptReply } from '../drivers/driver.ts';
import { CommandInDoubtError, classify } from '../outcome.ts';

/** How a demoted primary answers WAIT: one in progress, and any later one. */
const DEMOTED = /^-?(?:UNBLOCKED |ERR WAIT cannot be used with )/;

/** Scripts that are sent together, and the number of replicas that have their writes. */
class Batch {
  readonly calls: {
    readonly args: readonly ScriptArgument[];
    readonly resolve: (reply: ScriptReply) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  /** The most acknowledgements that one of these scripts needs. */
  needed = 0;
  /** Whether there was no connection to send the scripts on. */
  isUndelivered = false;
  readonly acknowledged: Promise<number>;
  resolve!: (replicas: number) => void;
  reject!: (error: unknown) => void;

  constructor() {
    this.acknowledged = new Promise((...settle) => {
      [this.resolve, this.reject] = settle;
    });
    // When nothing was granted, no caller awaits this promise.
    this.acknowledged.catch(() => undefined);
  }
}

/** The connection to one server, and the scripts that wait to be sent on it. */
export class ReplicatedConnection {
  readonly #open: (onDown: () => void) => Promise<Connection>;
  readonly #timeoutMs: number;
  #connection: Promise<Connection> | undefined;
  #next: Batch | undefined;
  #isBusy = false;

  constructor(open: (onDown: () => void) => Promise<Connection>, timeoutMs: number) {
    this.#open = open;
    this.#timeoutMs = timeoutMs;
  }

  /** Returns the reply, and the batch that counts the acknowledgements. */
  send(args: readonly ScriptArgument[], needed: number): { reply: Promise<ScriptReply>; batch: Batch } {
    this.#next ??= new Batch();
    const batch = this.#next;
    batch.needed = Math.max(batch.needed, needed);
    const reply = new Promise<ScriptReply>((resolve, reject) => batch.calls.push({ args, resolve, reject }));
    if (!this.#isBusy) void this.#work();
    return { reply, batch };
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    // Calls of the same turn form one batch.
    await Promise.resolve();
    for (let batch = this.#next; batch !== undefined; batch = this.#next) {
      this.#next = undefined;
      await this.#deliver(batch);
    }
    this.#isBusy = false;
  }

  async #deliver(batch: Batch): Promise<void> {
    const { calls, needed, resolve, reject } = batch;
    let connection: Connection;
    try {
      connection = await this.#connect();
    } catch (error) {
      this.#connection = undefined;
      batch.isUndelivered = true;
      for (const call of calls) call.reject(error);
      reject(error);
      return;
    }
    for (const call of calls) connection.send(call.args).then(call.resolve, call.reject);
    try {
      resolve(Number(await connection.send(['WAIT', String(needed), String(this.#timeoutMs)])));
    } catch (cause) {
      const isDemoted = cause instanceof Error && DEMOTED.test(cause.message);
      // Its last grants are lost with its role, unless a replica has them, which is unknown.
      const error = isDemoted ? new CommandInDoubtError('the primary became a replica', { cause }) : cause;
      // Commands on a connection that does not answer would only queue up. A new connection finds the primary.
      if (classify(error) === 'unknown') {
        this.#connection = undefined;
        connection.destroy();
      }
      reject(error);
    }
  }

  #connect(): Promise<Connection> {
    if (this.#connection === undefined) {
      const opening = this.#open(() => {
        if (this.#connection === opening) this.#connection = undefined;
      });
      this.#connection = opening;
    }
    return this.#connection;
  }
}

/** A `ScriptRunner` that also knows how many replicas have the writes of its last script. */
export class AcknowledgedRunner {
  readonly #replicatedConnection: ReplicatedConnection;
  readonly #needed: number;
  readonly #onError: (error: unknown) => void;
  #batch: Batch | undefined;
  /** Does not wait behind acknowledgements. */
  readonly inquirer: Pick<Driver, 'script'>;

  constructor(
    replicatedConnection: ReplicatedConnection,
    needed: number,
    inquirer: Pick<Driver, 'script'>,
    onError: (error: unknown) => void,
  ) {
    this.inquirer = inquirer;
    this.#replicatedConnection = replicatedConnection;
    this.#needed = needed;
    this.#onError = onError;
  }

  script(command: readonly ScriptArgument[]): Promise<ScriptReply> {
    const { reply, batch } = this.#replicatedConnection.send(command, this.#needed);
    this.#batch = batch;
    reply.catch(this.#onError);
    return reply;
  }

  /** Whether the last script was not sent because there was no connection. */
  get isUndelivered(): boolean {
    return this.#batch?.isUndelivered ?? false;
  }

  /** How many replicas have the writes of the last script. */
  async acknowledged(): Promise<number> {
    return (await this.#batch?.acknowledged) ?? 0;
  }
}
