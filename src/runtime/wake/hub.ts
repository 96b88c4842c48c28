/**
 * Wake-ups: one subscription for each channel, however many listen; none lost for longer than a poll.
 *
 * The hub subscribes to a channel on the server that has it: one connection each, so that a server that is
 * down silences no other. When a connection breaks, or a channel moves, the hub subscribes again on the
 * channel's current server, awaits the acknowledgement, and only then wakes every listener, because a message
 * may have been missed in between. Waiters poll as well: the hub makes waiting fast, polls make it correct.
 */

import { tellWake } from '../../channels.ts';
import type { CancelTimer, Clock } from '../../clock.ts';
import type { Driver } from '../../drivers/driver.ts';
import type { Report, WarningCode } from '../../events.ts';
import type { WakeChannels } from './channels.ts';
import { type LinkOwner, WakeLink } from './link.ts';

/** A listener on a channel. */
export interface Listener {
  /** Returns whether the message was news. */
  onMessage(): boolean;
  /** A message may have been missed while unsubscribed. */
  onMissed(): void;
}

export interface Listening {
  /** Settles when wake-ups are reliable, or when they are unavailable now and waiters must poll. Never rejects. */
  readonly ready: Promise<void>;
  stop(): void;
}

/** A subscription outlives its last listener by this time, so that repeated waits need not subscribe each time. */
const LINGER_MS = 1_000;

/** At most this many are kept; any other is dropped at once. */
const MOST_LINGERING = 100;

/** The hub remembers this many refused locks, to notice when the server allows one. */
const REFUSED_NOTED = 1_000;

/** Stands for all locks. */
const ALL = '';

/** Each waiter of a fair lock has its own channel, used once: refusals are noted by lock. */
function lockOf(channel: string): string {
  return channel.slice(0, channel.lastIndexOf('}') + 1) || channel;
}

export interface WakeHubSettings {
  readonly clientId: string;
  readonly driver: Driver;
  readonly clock: Clock;
  readonly channels: WakeChannels;
  readonly report: Report;
  /** The cause of this warning has gone. */
  readonly takeBack: (code: WarningCode) => void;
}

export class WakeHub {
  readonly #settings: WakeHubSettings;
  /** By channel. */
  readonly #listeners = new Map<string, Set<Listener>>();
  /** By server. */
  readonly #links = new Map<string, WakeLink>();
  /** The link that serves each channel in use. */
  readonly #homes = new Map<string, WakeLink>();
  /** Subscribed channels without a listener, and until when they are kept; in that order. */
  readonly #lingering = new Map<string, number>();
  #cancelSweep: CancelTimer | undefined;
  /** Locks for whose channel the server refused a subscription. */
  readonly #refused = new Set<string>();
  readonly #owner: LinkOwner;

  constructor(settings: WakeHubSettings) {
    const { driver, clock, channels } = settings;
    this.#settings = settings;
    this.#owner = {
      driver,
      clock,
      channels,
      onMessage: (channel) => {
        let isNews = false;
        for (const listener of this.#listeners.get(channel) ?? []) isNews = listener.onMessage() || isNews;
        if (isNews) tellWake(settings.clientId, 'message', channel);
      },
      onAdrift: (adrift) => {
        for (const channel of adrift) void this.#resume(channel);
      },
      onSubscribed: (channel) => this.#allowed(channel),
      onRefused: (channel, error) => this.#refuse(channel, error),
    };
  }

  /** Tells the listener of every message on the channel, and whenever one may have been missed. */
  listen(channel: string, listener: Listener): Listening {
    let listeners = this.#listeners.get(channel);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(channel, listeners);
    }
    // A subscription lost since is made again on its current server.
    if (this.#lingering.delete(channel) && !this.#homes.get(channel)?.isSubscribed(channel))
      this.#leave(channel);
    const joined = listeners;
    joined.add(listener);
    return {
      ready: this.#homeOf(channel).want(channel),
      stop: () => {
        joined.delete(listener);
        if (joined.size > 0 || this.#listeners.get(channel) !== joined) return;
        this.#listeners.delete(channel);
        if (this.#lingering.size >= MOST_LINGERING) this.#leave(channel);
        else this.#linger(channel);
      },
    };
  }

  /** Whether the channel has a subscription here, which a PUBLISH counts: it is listened to, or was just now. */
  keeps(channel: string): boolean {
    return this.#homes.has(channel);
  }

  close(): void {
    this.#cancelSweep?.();
    this.#lingering.clear();
    this.#listeners.clear();
    this.#homes.clear();
    for (const link of this.#links.values()) link.close();
  }

  /** One timer for all: most callers that stop listening have just got their lock, and a new timer would delay them. */
  #linger(channel: string): void {
    this.#lingering.set(channel, this.#settings.clock.now() + LINGER_MS);
    if (this.#cancelSweep === undefined) this.#sweepIn(LINGER_MS);
  }

  #sweepIn(ms: number): void {
    this.#cancelSweep = this.#settings.clock.inBackground(ms, () => this.#sweep());
  }

  #sweep(): void {
    this.#cancelSweep = undefined;
    const now = this.#settings.clock.now();
    for (const [channel, until] of this.#lingering) {
      if (until > now) {
        this.#sweepIn(until - now);
        return;
      }
      this.#lingering.delete(channel);
      this.#leave(channel);
    }
  }

  #leave(channel: string): void {
    this.#homes.get(channel)?.unwant(channel);
    this.#homes.delete(channel);
  }

  /** The link that serves the channel; a channel that has one keeps it. */
  #homeOf(channel: string): WakeLink {
    let home = this.#homes.get(channel);
    if (home === undefined) {
      home = this.#link(this.#settings.driver.nodeOf(channel));
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

  /** Subscribes again. After the acknowledgement, tells listeners that a message may have been missed. */
  async #resume(channel: string): Promise<void> {
    if (!this.#listeners.has(channel)) {
      if (this.#lingering.delete(channel)) this.#leave(channel);
      return;
    }
    const former = this.#homes.get(channel);
    this.#homes.delete(channel);
    const home = this.#homeOf(channel);
    if (home !== former) former?.unwant(channel);
    await home.want(channel);
    if (!home.isSubscribed(channel)) return;
    tellWake(this.#settings.clientId, 'subscribed', channel);
    for (const listener of this.#listeners.get(channel) ?? []) listener.onMissed();
  }

  #refuse(channel: string | undefined, error: unknown): void {
    if (this.#refused.size < REFUSED_NOTED) this.#refused.add(channel === undefined ? ALL : lockOf(channel));
    this.#settings.report('warning', {
      code: 'HOLDFAST_NO_SUBSCRIBE',
      message: `Cannot subscribe to wake-ups; waiters poll instead: ${(error as Error).message}`,
    });
  }

  /** A user may have access to some channels only: only one that was refused before shows that rules have changed. */
  #allowed(channel: string): void {
    if (!this.#refused.has(ALL) && !this.#refused.has(lockOf(channel))) return;
    this.#refused.clear();
    this.#settings.takeBack('HOLDFAST_NO_SUBSCRIBE');
  }
}
