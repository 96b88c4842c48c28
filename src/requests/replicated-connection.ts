/**
 * Carries scripts to one server on a connection of their own, each batch with a WAIT behind it.
 *
 * WAIT blocks the connection it is sent on and speaks of the writes of that connection only. Scripts that come
 * while one is being waited for go together with the next: however many there are, each waits for two at most.
 */
import type { Connection, ScriptArgument, ScriptReply } from '../drivers/driver.ts';
import { OutcomeUnknownError } from '../errors.ts';
import { classify } from '../outcome.ts';

/** How a server that is a primary no more answers WAIT: one under way, and any that comes later. */
const DEMOTED = /^-?(?:UNBLOCKED |ERR WAIT cannot be used with )/;

/** Scripts that are sent together, and how many replicas have what they wrote. */
class Batch {
  readonly calls: {
    readonly args: readonly ScriptArgument[];
    readonly resolve: (reply: ScriptReply) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  /** The most that one of them needs. */
  needed = 0;
  /** Whether there was no connection to send them on. */
  isUndelivered = false;
  readonly acknowledged: Promise<number>;
  resolve!: (replicas: number) => void;
  reject!: (error: unknown) => void;

  constructor() {
    this.acknowledged = new Promise((...settle) => {
      [this.resolve, this.reject] = settle;
    });
    // When nothing was granted, nobody waits for it.
    this.acknowledged.catch(() => undefined);
  }
}

/** The connection to one server, and what waits to be sent on it. */
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

  /** Answers the reply, and the batch that tells of the acknowledgements. */
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
    // Calls of the same turn travel together.
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
      // What it granted in its last moments goes with its office, and nobody knows whether a replica has it.
      const error = isDemoted ? new OutcomeUnknownError('The primary became a replica', { cause }) : cause;
      // Whatever is sent on a connection that does not answer would only wait behind it; a new one finds the primary.
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

/** One way to run a script whose writes are waited for: a `ScriptRunner` that knows who has what it wrote. */
export class Sending {
  readonly #replicatedConnection: ReplicatedConnection;
  readonly #needed: number;
  readonly #onError: (error: unknown) => void;
  #batch: Batch | undefined;

  constructor(replicatedConnection: ReplicatedConnection, needed: number, onError: (error: unknown) => void) {
    this.#replicatedConnection = replicatedConnection;
    this.#needed = needed;
    this.#onError = onError;
  }

  eval(source: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#send(['EVAL', source, String(keys.length), ...keys, ...args]);
  }

  evalSha(sha1: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#send(['EVALSHA', sha1, String(keys.length), ...keys, ...args]);
  }

  /** Whether the last script was not sent, for want of a connection. */
  get isUndelivered(): boolean {
    return this.#batch?.isUndelivered ?? false;
  }

  /** How many replicas have what the last script wrote. */
  async acknowledged(): Promise<number> {
    return (await this.#batch?.acknowledged) ?? 0;
  }

  #send(args: readonly ScriptArgument[]): Promise<ScriptReply> {
    const { reply, batch } = this.#replicatedConnection.send(args, this.#needed);
    this.#batch = batch;
    reply.catch(this.#onError);
    return reply;
  }
}
