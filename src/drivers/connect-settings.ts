/**
 * The settings that holdfast's own connections share, and the errors of a failed start.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis, RedisOptions } from 'ioredis';
import { DriverError } from '../errors.ts';
import { explainConnecting } from '../explain.ts';
import { type IoredisSender, ping } from './ioredis/connection.ts';

export interface OpenOptions {
  readonly commandTimeoutMs: number;
  /** What CLIENT LIST shows for each connection. */
  readonly connectionName?: string | undefined;
}

/** How long a connection may take to close gracefully before it is cut. */
export const CLOSE_MS = 500;
const SHORTEST_RECONNECT_MS = 50;
const LONGEST_RECONNECT_MS = 1_000;
const KEEP_ALIVE_MS = 10_000;
const LOADING_POLL_MS = 20;

/** The pause before the next attempt to connect. */
export function reconnectDelayMs(attempt: number): number {
  return Math.min(SHORTEST_RECONNECT_MS * 2 ** (attempt - 1), LONGEST_RECONNECT_MS);
}

/** Any of several Sentinels or nodes may not answer: each gets a share of the available time. */
export function shareMs(commandTimeoutMs: number): number {
  return Math.min(1_000, Math.ceil(commandTimeoutMs / 3));
}

/** The name of the connections of a client with this label. The server refuses names with spaces, or beyond ASCII. */
export function connectionNameOf(label: string): string {
  return `holdfast:${label.replace(/[^!-~]/gu, '_')}`;
}

/** The settings of every connection that carries commands. */
export function commandSettings({ commandTimeoutMs, connectionName = 'holdfast' }: OpenOptions) {
  return {
    lazyConnect: true,
    connectionName,
    connectTimeout: commandTimeoutMs,
    noDelay: true,
    keepAlive: KEEP_ALIVE_MS,
    // The ready check is an INFO, which an ACL may forbid. A loading server refuses every command with LOADING anyway.
    enableReadyCheck: false,
    disconnectTimeout: CLOSE_MS,
    // Rejects commands in flight as soon as the connection breaks. By default ioredis sends them again after the
    // reconnect, and they run twice; with resending turned off their promises stay pending forever.
    maxRetriesPerRequest: 0,
    // A call made while offline fails at once, and is certainly unsent: the runtime retries with its own back-off and
    // deadline. A queued call would run after its caller had given up.
    enableOfflineQueue: false,
    // A connection without any answer for this long is dropped, so that a half-open connection is replaced.
    socketTimeout: commandTimeoutMs,
  } satisfies RedisOptions;
}

/** Resolves when the server answers commands. Waits while the server is loading its data. */
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
 * Waits for the steps of a start, an `error` event or the time-out, whichever comes first. The event carries the
 * reason; the rejection of `connect()` only says that the connection is closed.
 */
export async function within(
  timeoutMs: number,
  client: { on(event: 'error', listener: (error: Error) => void): unknown },
  start: () => Promise<unknown>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<unknown>((resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error(`the server did not answer within ${timeoutMs} ms`)),
        timeoutMs,
      );
      // The listener stays attached, because ioredis prints errors that have no listener.
      client.on('error', reject);
      start().then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Waits a limited time for pending replies, then cuts the connection. */
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

/** Says where the connection was to go, why it failed, and what to do. */
export function cannotConnect(where: string, cause: unknown, isTls: boolean): DriverError {
  // ioredis attaches the failed command to its error, and a failed AUTH contains the password: causes get printed.
  for (let each = cause; each instanceof Error; each = each.cause) Reflect.deleteProperty(each, 'command');
  return new DriverError(`Cannot connect to ${where}: ${explainConnecting(cause, isTls)}`, { cause });
}

/**
 * Asks each server on a separate connection, and resolves to the first reason why one of them could not answer: ioredis
 * tries one node after the other and does not report why it gave each up.
 */
export async function reasonAmong(
  places: readonly { readonly host: string; readonly port: number }[],
  login: object,
  { commandTimeoutMs, connectionName }: OpenOptions,
  ask: (client: Redis) => Promise<void>,
): Promise<unknown> {
  const { Redis } = await import('ioredis');
  const settings = commandSettings({ commandTimeoutMs: shareMs(commandTimeoutMs), connectionName });
  const once = { ...settings, ...login, retryStrategy: () => null };
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
