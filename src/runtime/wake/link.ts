/**
 * One subscriber connection to one server, for the channels that this server has.
 *
 * It is opened when the first channel is wanted, pinged, and dropped when it breaks, answers no ping, or has
 * been unused for a while. The wake hub knows which server has a channel, and which listeners it has.
 */

import type { CancelTimer, Clock } from '../../clock.ts';
import type { ChannelKind, Connection, Driver } from '../../drivers/driver.ts';
import { classify } from '../../outcome.ts';
import { Backoff } from '../backoff.ts';
import type { WakeChannels } from './channels.ts';

/** A connection that carried nothing for this long is pinged; a half-open one looks just like a quiet one. */
const PING_EVERY_MS = 2_000;

/** An unused connection is kept this many pings, so that sporadic waiting does not open one each time. */
const IDLE_PINGS = 15;

/** The channel belongs to another server, or to none at present: the connection is fine. */
const MISPLACED = /^-?(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /;

const UNKNOWN_COMMAND = /unknown (?:sub)?command/i;

/** The hub, as a link sees it. */
export interface LinkOwner {
  readonly driver: Driver;
  readonly clock: Clock;
  readonly channels: WakeChannels;
  onMessage(channel: string): void;
  /** These channels are no longer subscribed, and a pause has passed: find their current server. */
  onAdrift(channels: readonly string[]): void;
  onSubscribed(channel: string): void;
  /** The server refused a subscription to that channel; to any channel, if undefined. */
  onRefused(channel: string | undefined, error: unknown): void;
}

export class WakeLink {
  readonly #owner: LinkOwner;
  readonly #node: string;
  /** Channels to subscribe to. */
  readonly #wanted = new Set<string>();
  /** Channels subscribed on the current connection, by kind. */
  readonly #subscribed = new Map<string, ChannelKind>();
  /** Work under way by channel: a channel's subscribes and unsubscribes run one after the other. */
  readonly #working = new Map<string, Promise<void>>();
  readonly #backoff = new Backoff(50, 2_000);
  readonly #retries = new Set<CancelTimer>();
  #connection: Promise<Connection> | undefined;
  #isOpen = false;
  #idlePings = 0;
  #cancelPing: CancelTimer | undefined;
  #isRetrying = false;
  #closed = false;

  constructor(owner: LinkOwner, node: string) {
    this.#owner = owner;
    this.#node = node;
  }

  isSubscribed(channel: string): boolean {
    return this.#subscribed.has(channel);
  }

  /** Subscribes, if not subscribed yet. Settles when that is done or has failed; never rejects. */
  want(channel: string): Promise<void> {
    this.#wanted.add(channel);
    return this.#reconcile(channel);
  }

  unwant(channel: string): void {
    this.#wanted.delete(channel);
    void this.#reconcile(channel);
  }

  close(): void {
    this.#closed = true;
    for (const cancel of this.#retries) cancel();
    this.#wanted.clear();
    this.#drop();
  }

  /** Brings the subscription of a channel in line with whether it is wanted. Never rejects. */
  #reconcile(channel: string): Promise<void> {
    const work = (this.#working.get(channel) ?? Promise.resolve()).then(() => this.#apply(channel));
    this.#working.set(channel, work);
    void work.then(() => {
      if (this.#working.get(channel) === work) this.#working.delete(channel);
    });
    return work;
  }

  async #apply(channel: string): Promise<void> {
    if (this.#closed) return;
    const wanted = this.#wanted.has(channel);
    if (wanted === this.#subscribed.has(channel)) return;
    const kind = this.#subscribed.get(channel) ?? this.#owner.channels.kind;
    const connection = this.#connect();
    try {
      if (wanted) {
        await (await connection).subscribe(channel, kind);
        if (this.#connection === connection) this.#subscribed.set(channel, kind);
        this.#backoff.reset();
        this.#owner.onSubscribed(channel);
      } else {
        this.#subscribed.delete(channel);
        await (await connection).unsubscribe(channel, kind);
      }
    } catch (error) {
      this.#failedFor(channel, wanted, kind, connection, error);
    }
  }

  #failedFor(
    channel: string,
    wanted: boolean,
    kind: ChannelKind,
    connection: Promise<Connection>,
    error: unknown,
  ): void {
    const text = error instanceof Error ? error.message : '';
    if (kind === 'sharded' && UNKNOWN_COMMAND.test(text)) {
      this.#owner.channels.giveUpSharded();
      this.#retry([channel]);
    } else if (this.#isOpen && MISPLACED.test(text)) {
      this.#retry([channel]);
    } else {
      const isRefused = classify(error) === 'refused' && this.#connection === connection;
      // A user that may subscribe but not unsubscribe hears everything.
      if (isRefused && wanted) this.#owner.onRefused(this.#isOpen ? channel : undefined, error);
      // A connection refused one channel still serves the others.
      if (!(isRefused && this.#isOpen)) this.#failed(connection);
    }
  }

  #connect(): Promise<Connection> {
    if (this.#connection !== undefined) return this.#connection;
    const connection: Promise<Connection> = this.#owner.driver.openConnection(this.#node, {
      onMessage: (channel) => this.#owner.onMessage(channel),
      onDown: () => this.#failed(connection),
    });
    this.#connection = connection;
    connection.then(
      () => {
        this.#isOpen ||= this.#connection === connection;
        this.#pingLater(connection);
      },
      // The caller of #connect handles the failure; there is nothing to ping.
      () => undefined,
    );
    return connection;
  }

  #pingLater(connection: Promise<Connection>): void {
    if (this.#connection !== connection) return;
    this.#cancelPing = this.#owner.clock.inBackground(PING_EVERY_MS, () => void this.#ping(connection));
  }

  async #ping(connection: Promise<Connection>): Promise<void> {
    this.#idlePings = this.#wanted.size === 0 ? this.#idlePings + 1 : 0;
    if (this.#idlePings > IDLE_PINGS) return this.#drop();
    try {
      await (await connection).ping();
      this.#pingLater(connection);
    } catch {
      this.#failed(connection);
    }
  }

  #drop(): void {
    const dropped = this.#connection;
    this.#connection = undefined;
    this.#isOpen = false;
    this.#subscribed.clear();
    this.#idlePings = 0;
    this.#cancelPing?.();
    dropped?.then(
      (connection) => connection.destroy(),
      // A connection that never opened needs no close, and its caller has handled the failure.
      () => undefined,
    );
  }

  #failed(connection: Promise<Connection>): void {
    // A connection that was replaced may still report a failure; that must not drop the new one.
    if (this.#closed || this.#connection !== connection) return;
    this.#drop();
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    this.#retry();
  }

  /** After a pause, has the hub find the server of these channels, or of all that are wanted by then. */
  #retry(channels?: readonly string[]): void {
    const { clock, driver } = this.#owner;
    const cancel = clock.inBackground(this.#backoff.next(), () => {
      this.#retries.delete(cancel);
      const [first] = channels ?? this.#wanted;
      void (first === undefined ? Promise.resolve() : driver.rediscover(first)).then(() => {
        if (channels === undefined) this.#isRetrying = false;
        if (!this.#closed) this.#owner.onAdrift(channels ?? [...this.#wanted]);
      });
    });
    this.#retries.add(cancel);
  }
}
