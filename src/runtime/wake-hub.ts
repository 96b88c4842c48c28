/**
 * Wake-ups: one subscription for each channel, however many listen; none lost for longer than a poll.
 *
 * The hub owns the one subscriber connection. When it breaks, or answers no ping, it is replaced: every
 * channel is subscribed anew, the acknowledgements are awaited, and only then every listener is woken,
 * because a message may have passed unheard in between. Who waits polls as well; the hub is what makes
 * waiting fast, not what makes it correct.
 */

import type { Driver, Subscriber } from '../drivers/driver.ts';
import { classify } from '../drivers/outcome.ts';
import { Backoff } from './backoff.ts';
import type { CancelTimer, Clock } from './clock.ts';
import type { Report } from './events.ts';

/** A connection that carried nothing for this long is pinged; a half-open one looks just like a quiet one. */
const PING_EVERY_MS = 2_000;

/** An unused connection is kept this many pings, so that sporadic waiting does not open one each time. */
const IDLE_PINGS = 15;

export interface Listening {
  /** Settles when wake-ups can be relied on; or when they cannot be had now, and polling must do. Never rejects. */
  readonly ready: Promise<void>;
  stop(): void;
}

export class WakeHub {
  readonly #driver: Driver;
  readonly #clock: Clock;
  readonly #report: Report;
  /** Who listens where: what should be subscribed. */
  readonly #listeners = new Map<string, Set<() => void>>();
  /** What is subscribed on the present connection. */
  readonly #subscribed = new Set<string>();
  /** Subscribing and unsubscribing of one channel under way: one after the other, never crossing. */
  readonly #working = new Map<string, Promise<void>>();
  readonly #backoff = new Backoff(50, 2_000);
  #connection: Promise<Subscriber> | undefined;
  #isOpen = false;
  #idlePings = 0;
  #cancelPing: CancelTimer | undefined;
  #cancelReconnect: CancelTimer | undefined;
  #denied = false;
  #closed = false;

  constructor(driver: Driver, clock: Clock, report: Report) {
    this.#driver = driver;
    this.#clock = clock;
    this.#report = report;
  }

  /** Calls `wake` for every message on the channel, and whenever one may have been missed. */
  listen(channel: string, wake: () => void): Listening {
    let listeners = this.#listeners.get(channel);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(channel, listeners);
    }
    const joined = listeners;
    joined.add(wake);
    return {
      ready: this.#reconcile(channel),
      stop: () => {
        joined.delete(wake);
        if (joined.size === 0 && this.#listeners.get(channel) === joined) {
          this.#listeners.delete(channel);
          void this.#reconcile(channel);
        }
      },
    };
  }

  close(): void {
    this.#closed = true;
    this.#cancelReconnect?.();
    this.#listeners.clear();
    this.#drop();
  }

  /** Brings the subscription of a channel in line with whether somebody listens. Never rejects. */
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
    const wanted = this.#listeners.has(channel);
    if (wanted === this.#subscribed.has(channel)) return;
    const connection = this.#connect();
    try {
      if (wanted) {
        await (await connection).subscribe(channel);
        if (this.#connection === connection) this.#subscribed.add(channel);
        this.#backoff.reset();
      } else {
        this.#subscribed.delete(channel);
        await (await connection).unsubscribe(channel);
      }
    } catch (error) {
      this.#failed(connection, error);
    }
  }

  #connect(): Promise<Subscriber> {
    if (this.#connection !== undefined) return this.#connection;
    const connection: Promise<Subscriber> = this.#driver.openSubscriber({
      onMessage: (channel) => this.#wake(channel),
      onDown: (reason) => this.#failed(connection, reason),
    });
    this.#connection = connection;
    connection.then(
      () => {
        this.#isOpen ||= this.#connection === connection;
        this.#pingLater(connection);
      },
      // Who asked for the connection handles its failure; there is nothing to ping.
      () => undefined,
    );
    return connection;
  }

  #wake(channel: string): void {
    for (const wake of this.#listeners.get(channel) ?? []) wake();
  }

  #pingLater(connection: Promise<Subscriber>): void {
    if (this.#connection !== connection) return;
    this.#cancelPing = this.#clock.after(PING_EVERY_MS, () => void this.#ping(connection));
  }

  async #ping(connection: Promise<Subscriber>): Promise<void> {
    this.#idlePings = this.#listeners.size === 0 ? this.#idlePings + 1 : 0;
    if (this.#idlePings > IDLE_PINGS) return this.#drop();
    try {
      await (await connection).ping();
      this.#pingLater(connection);
    } catch (error) {
      this.#failed(connection, error);
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
      (subscriber) => subscriber.destroy(),
      // What never opened has nothing to close, and who asked for it has handled the failure.
      () => undefined,
    );
  }

  #failed(connection: Promise<Subscriber>, error: unknown): void {
    // A connection that was replaced may still report what it owes; that must not cost the new one.
    if (this.#closed || this.#connection !== connection) return;
    if (classify(error) === 'refused') {
      this.#warnDenied(error);
      // Refused one channel, it still serves the others.
      if (this.#isOpen) return;
    }
    this.#drop();
    this.#cancelReconnect ??= this.#clock.after(this.#backoff.next(), () => {
      this.#cancelReconnect = undefined;
      for (const channel of this.#listeners.keys()) void this.#resume(channel);
    });
  }

  /** A message may have passed while nothing was subscribed: acknowledged first, then everyone looks again. */
  async #resume(channel: string): Promise<void> {
    await this.#reconcile(channel);
    if (this.#subscribed.has(channel)) this.#wake(channel);
  }

  #warnDenied(error: unknown): void {
    if (this.#denied) return;
    this.#denied = true;
    this.#report('warning', {
      code: 'HOLDFAST_NO_SUBSCRIBE',
      message: `Cannot subscribe to wake-ups, waiting falls back on polling: ${(error as Error).message}`,
    });
  }
}
