/**
 * What the runtime needs from a Redis client library, and nothing more.
 *
 * Every state change is a script and every wake-up a message, so a driver runs scripts and opens
 * connections of its own for what must not share one. It leaves deadlines to `deadline.ts`, replacing
 * broken connections to whoever opened them, and the meaning of a reply to `scripts/`. Where one server is spoken to at
 * a time, `one-server.ts` is the driver, and an adapter says only how to send a command and open a connection.
 */

/** A script argument: text travels as UTF-8, a Buffer as its raw bytes. */
export type ScriptArgument = string | Buffer;

/** What a script may answer: RESP integers, bulk strings as UTF-8 text, nil, and arrays of them. */
export type ScriptReply = number | string | null | ScriptReply[];

/** Aborts when the caller of a script has stopped waiting: a real `AbortSignal`, or as much of one as is used. */
export interface CallSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** How the servers behind a client are arranged, as far as the client library knows. */
export type Topology = 'standalone' | 'sentinel' | 'cluster';

export interface Driver {
  /** The client library behind this driver, as people know it: `ioredis`, `node-redis`, `valkey-glide`. */
  readonly library: string;
  readonly topology: Topology;
  /** A script that was answered was written to one connection only, so that no copy of it can arrive later. */
  readonly writesOnce: boolean;
  /** A prefix the user's client is configured to put before key names; the empty string if none. */
  readonly keyPrefix: string;
  /**
   * Runs a script by its source, on the primary that has its keys, or on any when it has none. Keys are sent
   * exactly as given: an adapter bypasses any prefixing of its library, because channel names derive from the
   * same name and must agree with them. Rejects with whatever the library rejects with.
   *
   * A script is written once at most: an adapter keeps its library from writing it again when the connection
   * broke before the answer, and from writing it at all after `signal` aborted.
   */
  eval(
    source: string,
    keys: readonly string[],
    args: readonly ScriptArgument[],
    signal?: CallSignal,
  ): Promise<ScriptReply>;
  /** Runs a cached script by its SHA-1; rejects with the server's NOSCRIPT error when it is not cached. */
  evalSha(
    sha1: string,
    keys: readonly string[],
    args: readonly ScriptArgument[],
    signal?: CallSignal,
  ): Promise<ScriptReply>;
  /**
   * The primary that serves a key or a channel, by a name of the driver's own; the empty string where there is
   * only one, or while none is known. Answered from what the library knows at present, without asking.
   */
  nodeOf(key: string): string;
  /** Every primary that is known at present, at least one: `['']` where there is only one. */
  nodes(): readonly string[];
  /** What `nodeOf` answers proved wrong for this key or channel: has the library find out anew. Never rejects. */
  rediscover(key: string): Promise<void>;
  /**
   * Opens a connection of its own to a primary, inheriting credentials, TLS and database from the user's
   * client; for the empty string to whichever primary there is. It must not reconnect by itself: when it
   * breaks it calls `onDown` once and is never used again.
   */
  openConnection(node: string, events: ConnectionEvents): Promise<Connection>;
  /**
   * Tells the listener when Sentinels made another server the primary. By then the driver sends nothing to the former
   * primary, discards its answers, and has called `onDown` for every connection to it.
   */
  onSwitched?(listener: SwitchListener): void;
  /** Yields the keys of all primaries that match a glob pattern, for people's listings only. A key may come twice. */
  scan(pattern: string): AsyncIterable<string>;
  /** Closes the connections this driver opened itself; never the user's client. */
  close(): Promise<void>;
}

/** @param advice a warning for the user, whose client stays with the former primary for a while */
export type SwitchListener = (advice?: string) => void;

export interface ConnectionEvents {
  onMessage(channel: string, message: string): void;
  /**
   * The connection broke, was closed by the other side, or lost a subscription that nobody took back: the slot
   * of a sharded channel moved away. Called at most once, never after `destroy()`.
   */
  onDown(reason: Error): void;
}

/** Whether a channel is one of the whole server or Cluster, or belongs to a slot (SUBSCRIBE or SSUBSCRIBE). */
export type ChannelKind = 'plain' | 'sharded';

/** One dedicated connection: for subscriptions, or for commands that block. */
export interface Connection {
  /** Sends a command as given. Commands sent in one turn arrive in that order. */
  send(args: readonly ScriptArgument[]): Promise<ScriptReply>;
  /** Resolves when the server has acknowledged the subscription. */
  subscribe(channel: string, kind: ChannelKind): Promise<void>;
  /** Resolves when the server has acknowledged. */
  unsubscribe(channel: string, kind: ChannelKind): Promise<void>;
  /** A round trip on this very connection; how a half-open one is found. */
  ping(): Promise<void>;
  /** Drops the connection at once. Idempotent; never throws. */
  destroy(): void;
}
