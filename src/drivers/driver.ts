/**
 * What the runtime needs from a Redis client library, and nothing more.
 *
 * Every state change is a script and every wake-up a message, so a driver runs scripts and opens
 * subscriber connections. It leaves deadlines to `deadline.ts`, reconnecting subscribers to the
 * wake hub, and the meaning of a reply to `scripts/`. An adapter is about a hundred lines.
 */

/** A script argument: text travels as UTF-8, a Buffer as its raw bytes. */
export type ScriptArgument = string | Buffer;

/** What a script may answer: RESP integers, bulk strings as UTF-8 text, nil, and arrays of them. */
export type ScriptReply = number | string | null | ScriptReply[];

export interface Driver {
  /** The client library behind this driver, as people know it: `ioredis`, `node-redis`. */
  readonly library: string;
  /** A prefix the user's client is configured to put before key names; the empty string if none. */
  readonly keyPrefix: string;
  /**
   * Runs a script by its source. Keys are sent exactly as given: an adapter bypasses any prefixing of
   * its library, because channel names derive from the same name and must agree with them.
   * Rejects with whatever the library rejects with.
   */
  eval(source: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply>;
  /** Runs a cached script by its SHA-1; rejects with the server's NOSCRIPT error when it is not cached. */
  evalSha(sha1: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply>;
  /**
   * Opens a connection of its own for subscriptions, inheriting address, credentials, TLS and database
   * from the user's client. It must not reconnect by itself: when it breaks it calls `onDown` once and
   * is never used again.
   */
  openSubscriber(events: SubscriberEvents): Promise<Subscriber>;
  /** Yields the keys that match a glob pattern, for people's listings only. A key may come twice. */
  scan(pattern: string): AsyncIterable<string>;
  /** Closes the connections this driver opened itself; never the user's client. */
  close(): Promise<void>;
}

export interface SubscriberEvents {
  onMessage(channel: string, message: string): void;
  /** The connection broke or was closed by the other side. Called at most once, never after `destroy()`. */
  onDown(reason: Error): void;
}

/** One dedicated subscriber connection. */
export interface Subscriber {
  /** Resolves when the server has acknowledged the subscription. */
  subscribe(channel: string): Promise<void>;
  /** Resolves when the server has acknowledged. */
  unsubscribe(channel: string): Promise<void>;
  /** A round trip on this very connection; how a half-open one is found. */
  ping(): Promise<void>;
  /** Drops the connection at once. Idempotent; never throws. */
  destroy(): void;
}
