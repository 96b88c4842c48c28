/**
 * What the runtime needs from a Redis client library, and nothing more.
 *
 * Every state change is a script and every wake-up is a message, so a driver runs scripts and opens dedicated
 * connections. Time-outs belong to `call-timeout.ts`, replacing a broken connection to the code that opened it, and the
 * meaning of a reply to `scripts/`. `one-server.ts` is the driver for everything but a Cluster; its adapters only say
 * how to send a command and open a connection.
 */

/** A script argument: text travels as UTF-8, a Buffer as its raw bytes. */
export type ScriptArgument = string | Buffer;

/** What a script may answer: RESP integers, bulk strings as UTF-8 text, nil, and arrays of them. */
export type ScriptReply = number | string | null | ScriptReply[];

/** Aborts when the caller of a script has stopped waiting. An `AbortSignal`, reduced to the members in use. */
export interface CallSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** How the servers behind a client are arranged, as far as the client library knows. */
export type Topology = 'standalone' | 'sentinel' | 'cluster';

export interface Driver {
  /** The client library behind this driver: `ioredis`, `node-redis`, `valkey-glide`. */
  readonly library: string;
  readonly topology: Topology;
  /** True if an answered script was written to one connection only, so that no copy of it can arrive later. */
  readonly writesOnce: boolean;
  /** The prefix that the user's client puts before key names; the empty string if none. */
  readonly keyPrefix: string;
  /**
   * Sends EVAL or EVALSHA to the primary that serves `key`, its first key, or to any primary when it has none. The
   * command is sent exactly as given: an adapter bypasses the prefixing of its library, because channel names derive
   * from the same name and must agree with the keys. Rejects with the library's error, or with an error of `outcome.ts`
   * where the adapter knows that the command was not sent, or does not know whether it ran.
   *
   * A script is written at most once: an adapter prevents its library from writing the script again when the connection
   * broke before the answer, and from writing it at all after `signal` aborted.
   *
   * @param command the whole command, its name in lower case, as the libraries report commands to monitoring tools; the
   *   callee may modify the array
   */
  script(command: ScriptArgument[], signal?: CallSignal, key?: string): Promise<ScriptReply>;
  /**
   * The primary that serves a key or a channel, by the driver's name for it; the empty string where there is only one
   * primary, or while none is known. Answers from what the library knows now, without asking a server.
   */
  nodeOf(key: string): string;
  /** All primaries known now, at least one: `['']` where there is only one. */
  nodes(): readonly string[];
  /** `nodeOf` was wrong for this key or channel: makes the library look the primary up again. Never rejects. */
  rediscover(key: string): Promise<void>;
  /**
   * Opens a dedicated connection to a primary, with the credentials, TLS and database of the user's client; for the
   * empty string, to any primary. The connection must not reconnect by itself: when it breaks, it calls `onDown` once
   * and is never used again.
   */
  openConnection(node: string, events: ConnectionEvents): Promise<Connection>;
  /**
   * Calls the listener when Sentinels made another server the primary. By then the driver sends nothing to the former
   * primary, discards its answers, and has called `onDown` for every connection to it.
   */
  onSwitched?(listener: SwitchListener): void;
  /** The state of the library's connection, for error messages; undefined where the library does not tell. */
  condition?(): Condition | undefined;
  /**
   * Yields the keys of all primaries that match a glob pattern, in pages: one command each, and possibly empty. For
   * listings only: a key may be yielded twice.
   */
  scan(pattern: string): AsyncIterable<readonly string[]>;
  /** Closes the connections this driver opened itself; never the user's client. */
  close(): Promise<void>;
}

/** The state of a client's connection at the moment. */
export interface Condition {
  /** Who is connected, as the subject of a sentence: `the ioredis client`. */
  readonly client: string;
  /** The state, in the words of the library, while the client is not connected; undefined while it is. */
  readonly state: string | undefined;
  /** Whether the client has been closed, and will not connect again. */
  readonly isClosed: boolean;
  readonly isTls: boolean;
  /** Whether the client has a password to log in with. */
  readonly hasPassword: boolean;
  /** The last error that the client reported, of any time. */
  readonly lastError: Error | undefined;
}

/** @param advice a warning for the user, whose client stays with the former primary for a while */
export type SwitchListener = (advice?: string) => void;

export interface ConnectionEvents {
  onMessage(channel: string, message: string): void;
  /**
   * The connection broke, the server closed it, or the server ended a subscription because the slot of a sharded
   * channel moved away. Called at most once, never after `destroy()`.
   */
  onDown(reason: Error): void;
}

/** Whether a channel belongs to the whole server or Cluster (SUBSCRIBE), or to a slot (SSUBSCRIBE). */
export type ChannelKind = 'plain' | 'sharded';

/** One dedicated connection: for subscriptions, or for commands that block. */
export interface Connection {
  /** Sends a command as given. Commands sent in one turn arrive in that order. */
  send(args: readonly ScriptArgument[]): Promise<ScriptReply>;
  /** Resolves when the server has acknowledged the subscription. */
  subscribe(channel: string, kind: ChannelKind): Promise<void>;
  /** Resolves when the server has acknowledged. */
  unsubscribe(channel: string, kind: ChannelKind): Promise<void>;
  /** A round trip on this connection. It detects a half-open connection. */
  ping(): Promise<void>;
  /** Drops the connection at once. Idempotent; never throws. */
  destroy(): void;
}
