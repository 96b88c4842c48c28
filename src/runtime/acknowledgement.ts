/**
 * Has replicas acknowledge what was granted, before anybody relies on it.
 *
 * WAIT blocks the connection it is sent on and speaks of the writes of that connection only, so grants travel on
 * one of their own, together with the WAIT. Those that come while one is being waited for go together with the
 * next: however many there are, each waits for two at most. Whatever else the client sends is not delayed.
 */
import type { Connection, Driver, ScriptArgument, ScriptReply } from '../drivers/driver.ts';
import { classify } from '../drivers/outcome.ts';
import { DriverError, OutcomeUnknownError } from '../errors.ts';
import type { Clock } from './clock.ts';

/** How many acknowledgements are asked for: a number, or what is right for the replicas there are. */
export type ReplicaWish = number | 'auto' | 'majority';

/** How many replicas of those there are have to acknowledge a grant. */
export function neededOf(wish: ReplicaWish, replicas: number): number {
  if (typeof wish === 'number') return wish;
  if (wish === 'auto') return Math.min(1, replicas);
  // Together with the primary, more than half of all servers have it then.
  return Math.floor((replicas + 1) / 2);
}

/** How long the number of replicas is taken for granted. */
const CENSUS_MS = 10_000;

/** How a server that is a primary no more answers WAIT: one under way, and any that comes later. */
const DEMOTED = /^-?(?:UNBLOCKED |ERR WAIT cannot be used with )/;

export interface AcknowledgementSettings {
  readonly driver: Driver;
  readonly clock: Clock;
  readonly wish: ReplicaWish;
  readonly timeoutMs: number;
  /** How many replicas there should be, where that was said. */
  readonly expected: number;
  /** Asks the server that has the key how many replicas are connected; null when it does not tell. */
  count(key: string): Promise<number | null>;
  /** The server offers no acknowledgements, and those asked for were optional. */
  onUnavailable(why: unknown): void;
}

interface Census {
  readonly replicas: number;
  readonly takenAt: number;
}

/** Scripts that are sent together, and how many replicas have what they wrote. */
class Batch {
  readonly calls: {
    readonly args: readonly ScriptArgument[];
    readonly resolve: (reply: ScriptReply) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  /** The most that one of them needs. */
  needed = 0;
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
class Courier {
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

  async #deliver({ calls, needed, resolve, reject }: Batch): Promise<void> {
    let connection: Connection;
    try {
      connection = await this.#connect();
    } catch (error) {
      this.#connection = undefined;
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
  readonly #courier: Courier;
  readonly #needed: number;
  readonly #onError: (error: unknown) => void;
  #batch: Batch | undefined;

  constructor(courier: Courier, needed: number, onError: (error: unknown) => void) {
    this.#courier = courier;
    this.#needed = needed;
    this.#onError = onError;
  }

  eval(source: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#send(['EVAL', source, String(keys.length), ...keys, ...args]);
  }

  evalSha(sha1: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#send(['EVALSHA', sha1, String(keys.length), ...keys, ...args]);
  }

  /** How many replicas have what the last script wrote. */
  async acknowledged(): Promise<number> {
    return (await this.#batch?.acknowledged) ?? 0;
  }

  #send(args: readonly ScriptArgument[]): Promise<ScriptReply> {
    const { reply, batch } = this.#courier.send(args, this.#needed);
    this.#batch = batch;
    reply.catch(this.#onError);
    return reply;
  }
}

export class Acknowledgement {
  readonly #settings: AcknowledgementSettings;
  readonly #couriers = new Map<string, Courier>();
  readonly #census = new Map<string, Census>();
  /** The most replicas that each server was ever seen with: one that is gone still counts for a majority. */
  readonly #mostSeen = new Map<string, number>();
  #isUnavailable = false;

  constructor(settings: AcknowledgementSettings) {
    this.#settings = settings;
  }

  /** So many replicas are connected to that server, as somebody has just found. */
  counted(node: string, replicas: number): void {
    this.#census.set(node, { replicas, takenAt: this.#settings.clock.now() });
  }

  /** How many replicas have to acknowledge a grant of this key. */
  async needed(key: string): Promise<number> {
    const { wish, expected } = this.#settings;
    if (typeof wish === 'number') return wish;
    if (this.#isUnavailable) return 0;
    const connected = await this.#replicasFor(key);
    if (wish === 'auto') return neededOf(wish, connected);
    const node = this.#settings.driver.nodeOf(key);
    const mostSeen = Math.max(connected, this.#mostSeen.get(node) ?? 0);
    this.#mostSeen.set(node, mostSeen);
    return neededOf(wish, Math.max(expected, mostSeen));
  }

  /** Fewer have acknowledged than were needed: how many are needed as things are now. */
  neededNow(key: string): Promise<number> {
    this.#census.delete(this.#settings.driver.nodeOf(key));
    return this.needed(key);
  }

  /** A way to run a script on this key that so many replicas have to acknowledge. */
  sending(key: string, needed: number): Sending {
    const { driver, timeoutMs } = this.#settings;
    const node = driver.nodeOf(key);
    let courier = this.#couriers.get(node);
    if (courier === undefined) {
      const open = (onDown: () => void) => driver.openConnection(node, { onMessage() {}, onDown });
      courier = new Courier(open, timeoutMs);
      this.#couriers.set(node, courier);
    }
    return new Sending(courier, needed, (error) => {
      // Moved, or out of reach: another server may have the key by now, or will.
      if (classify(error) !== 'refused') void driver.rediscover(key);
    });
  }

  /**
   * The server refuses to wait for replicas. Where they were not insisted on, goes on without, having said so;
   * answers whether it does.
   */
  giveUp(why: unknown): boolean {
    if (this.#settings.wish !== 'auto') return false;
    if (!this.#isUnavailable) {
      this.#isUnavailable = true;
      this.#settings.onUnavailable(why);
    }
    return true;
  }

  async #replicasFor(key: string): Promise<number> {
    const { driver, clock } = this.#settings;
    const node = driver.nodeOf(key);
    const known = this.#census.get(node);
    if (known === undefined) return this.#count(key, node);
    if (clock.now() - known.takenAt > CENSUS_MS) {
      // Asked for the next time: this one does not wait for the answer.
      this.#census.set(node, { ...known, takenAt: clock.now() });
      void this.#count(key, node).catch(() => undefined);
    }
    return known.replicas;
  }

  async #count(key: string, node: string): Promise<number> {
    const { count, wish } = this.#settings;
    const counted = await count(key);
    if (counted === null) {
      const why = new DriverError('The server does not tell how many replicas it has (INFO)');
      if (wish !== 'auto') throw why;
      this.giveUp(why);
    }
    this.counted(node, counted ?? 0);
    return counted ?? 0;
  }
}
