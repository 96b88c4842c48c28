/**
 * Wake-ups: one subscription for each channel, however many listen; none lost for longer than a poll.
 *
 * A channel is subscribed to on the server that has it: one connection each, so that a server that is down
 * silences no other. When a connection breaks, or a channel moves, the channel is subscribed anew where it is
 * at home by then, the acknowledgement is awaited, and only then every listener is woken, because a message
 * may have passed unheard in between. Who waits polls as well; the hub is what makes waiting fast, not what
 * makes it correct.
 */
import type { ChannelKind, Driver } from '../drivers/driver.ts';
import type { Clock } from './clock.ts';
import type { Report } from './events.ts';
import { type LinkOwner, WakeLink } from './wake-link.ts';

export interface Listening {
  /** Settles when wake-ups can be relied on; or when they cannot be had now, and polling must do. Never rejects. */
  readonly ready: Promise<void>;
  stop(): void;
}

export class WakeHub {
  readonly #driver: Driver;
  readonly #report: Report;
  /** Who listens where. */
  readonly #listeners = new Map<string, Set<() => void>>();
  /** By server. */
  readonly #links = new Map<string, WakeLink>();
  /** Where each channel that is listened to has its home. */
  readonly #homes = new Map<string, WakeLink>();
  readonly #owner: LinkOwner;
  #kind: ChannelKind;
  #denied = false;

  /** @param kind sharded only where the servers are a Cluster; it is given up if they know no sharded channels */
  constructor(driver: Driver, clock: Clock, report: Report, kind: ChannelKind = 'plain') {
    this.#driver = driver;
    this.#report = report;
    this.#kind = kind;
    const currentKind = () => this.#kind;
    this.#owner = {
      driver,
      clock,
      get kind() {
        return currentKind();
      },
      onMessage: (channel) => this.#wake(channel),
      onAdrift: (channels) => {
        for (const channel of channels) void this.#resume(channel);
      },
      onRefused: (error) => this.#warnDenied(error),
      onUnsharded: () => {
        this.#kind = 'plain';
      },
    };
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
      ready: this.#settleIn(channel).want(channel),
      stop: () => {
        joined.delete(wake);
        if (joined.size > 0 || this.#listeners.get(channel) !== joined) return;
        this.#listeners.delete(channel);
        this.#homes.get(channel)?.unwant(channel);
        this.#homes.delete(channel);
      },
    };
  }

  close(): void {
    this.#listeners.clear();
    this.#homes.clear();
    for (const link of this.#links.values()) link.close();
  }

  /** The link that serves the channel; a channel that has a home keeps it. */
  #settleIn(channel: string): WakeLink {
    let home = this.#homes.get(channel);
    if (home === undefined) {
      home = this.#link(this.#driver.nodeOf(channel));
      this.#homes.set(channel, home);
    }
    return home;
  }

  #link(node: string): WakeLink {
    let link = this.#links.get(node);
    if (link === undefined) {
      link = new WakeLink(this.#owner, node);
      this.#links.set(node, link);
    }
    return link;
  }

  #wake(channel: string): void {
    for (const wake of this.#listeners.get(channel) ?? []) wake();
  }

  /** A message may have passed while nothing was subscribed: acknowledged first, then everyone looks again. */
  async #resume(channel: string): Promise<void> {
    if (!this.#listeners.has(channel)) return;
    const former = this.#homes.get(channel);
    this.#homes.delete(channel);
    const home = this.#settleIn(channel);
    if (home !== former) former?.unwant(channel);
    await home.want(channel);
    if (home.isSubscribed(channel)) this.#wake(channel);
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
