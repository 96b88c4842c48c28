/**
 * What connections of our own have in common: settings of our choice, and how a failed start is told.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis, RedisOptions } from 'ioredis';
import { DriverError } from '../errors.ts';
import { type IoredisSender, ping } from './ioredis/connection.ts';

export interface OpenOptions {
  readonly commandTimeoutMs: number;
}

/** How long a connection may take to close politely before it is cut. */
export const CLOSE_MS = 500;
const SHORTEST_RECONNECT_MS = 50;
const LONGEST_RECONNECT_MS = 1_000;
const KEEP_ALIVE_MS = 10_000;
const LOADING_POLL_MS = 20;

/** How long to wait before the next attempt to connect. */
export function reconnectDelayMs(attempt: number): number {
  return Math.min(SHORTEST_RECONNECT_MS * 2 ** (attempt - 1), LONGEST_RECONNECT_MS);
}

/** Of several Sentinels or nodes one may be silent: each gets its share of the time there is. */
export function shareMs(commandTimeoutMs: number): number {
  return Math.min(1_000, Math.ceil(commandTimeoutMs / 3));
}

/** The settings of every connection that carries commands. */
export function commandSettings(commandTimeoutMs: number) {
  return {
    lazyConnect: true,
    connectionName: 'holdfast',
    connectTimeout: commandTimeoutMs,
    noDelay: true,
    keepAlive: KEEP_ALIVE_MS,
    // An INFO, which users limited by an ACL may not have. A server that is loading says so to every command.
    enableReadyCheck: false,
    disconnectTimeout: CLOSE_MS,
    // Rejects what was in flight as soon as the connection breaks. By default it is sent again after the
    // reconnect and runs twice; turning the resending off instead leaves its promise pending for ever.
    maxRetriesPerRequest: 0,
    // A call made while offline fails at once, and certainly unsent: the runtime tries again with its own
    // back-off and deadline. Queued, it would run after its caller had given up.
    enableOfflineQueue: false,
    // A server that answers nothing for this long is left, so that a half-open connection is replaced.
    socketTimeout: commandTimeoutMs,
  } satisfies RedisOptions;
}

/** Resolves when the server answers commands; one that is loading its data is waited for. */
export async function whenServing(client: IoredisSender): Promise<void> {
  for (;;) {
    try {
      return await ping(client);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('LOADING'))) throw error;
      await sleep(LOADING_POLL_MS);
    }
  }
}

/**
 * Waits for the steps of a start, an `error` event or the end of the time, whichever comes first. The event
 * tells why; the rejection of a `connect()` only says that the connection is closed.
 */
export async function within(
  timeoutMs: number,
  client: { on(event: 'error', listener: (error: Error) => void): unknown },
  start: () => Promise<unknown>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<unknown>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      // It stays attached, because ioredis prints an error that nobody listens to.
      client.on('error', reject);
      start().then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Lets replies that are under way arrive, within a bound, then cuts the connection. */
export async function disconnect(client: { quit(): Promise<unknown>; disconnect(): void }): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS);
  });
  // A quit() that is refused means that there is no connection to wait for.
  const said = client.quit().then(
    () => {},
    () => {},
  );
  await Promise.race([said, bound]);
  clearTimeout(timer);
  client.disconnect();
}

/** Says where a connection was to go, and why there is none. */
export function cannotConnect(where: string, cause: unknown): DriverError {
  // ioredis attaches the command that failed, and a failed AUTH carries the password: causes get printed.
  for (let each = cause; each instanceof Error; each = each.cause) Reflect.deleteProperty(each, 'command');
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : String(cause);
  return new DriverError(`Cannot connect to ${where}: ${reason}`, { cause });
}

/**
 * Asks servers one thing, on connections for that alone, and resolves to the first reason why one of them could
 * not answer: ioredis tries one node after the other and keeps to itself why it left each.
 */
export async function reasonAmong(
  places: readonly { readonly host: string; readonly port: number }[],
  login: object,
  commandTimeoutMs: number,
  ask: (client: Redis) => Promise<void>,
): Promise<unknown> {
  const { Redis } = await import('ioredis');
  const once = { ...commandSettings(shareMs(commandTimeoutMs)), ...login, retryStrategy: () => null };
  const asked = await Promise.allSettled(
    places.map((place) => askOnce(new Redis({ ...once, ...place }), ask)),
  );
  return asked.find((one) => one.status === 'rejected')?.reason;
}

async function askOnce(client: Redis, ask: (client: Redis) => Promise<void>): Promise<void> {
  let reason: Error | undefined;
  client.on('error', (error) => {
    reason ??= error;
  });
  try {
    await client.connect();
    await ask(client);
  } catch (error) {
    throw reason ?? error;
  } finally {
    client.disconnect();
  }
}

export function listed(places: readonly { readonly host: string; readonly port: number }[]): string {
  return places.map(({ host, port }) => `${host}:${port}`).join(', ');
}
