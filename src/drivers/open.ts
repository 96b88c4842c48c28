/**
 * Opens the connections that are ours, with ioredis and settings of our choice.
 *
 * A connection is made before the driver is handed out, so that a wrong address or password is told at
 * once. Deadlines on single calls are left to `deadline.ts`, which the caller puts around the driver.
 */
import { isIP } from 'node:net';
import { DriverError, OptionError } from '../errors.ts';
import type { Driver } from './driver.ts';
import { ioredisDriver } from './ioredis.ts';

/** Where a server is. Single fields win over what the URL says. */
export interface ServerTarget {
  /** `redis://` or `rediss://` (TLS), also spelt `valkey://` and `valkeys://`: `redis://user:secret@host:6379/0`. */
  readonly url?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** `true`, or the options of `tls.connect`. */
  readonly tls?: boolean | object | undefined;
  readonly db?: number | undefined;
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly tls?: object | undefined;
  readonly db: number;
}

const SHORTEST_RECONNECT_MS = 50;
const LONGEST_RECONNECT_MS = 1000;
const KEEP_ALIVE_MS = 10_000;
/** How long a connection may take to close politely before it is cut. */
const CLOSE_MS = 500;

function parseUrl(url: string): Partial<Address> {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    // The URL is not repeated, nor the cause kept: both carry the password.
    throw new OptionError('The url is not a valid URL; expected redis://user:password@host:port/db');
  }
  const scheme = /^(?:redis|valkey)(s?):$/.exec(parsed.protocol);
  if (scheme === null) {
    throw new OptionError(`The url starts with ${parsed.protocol}//; expected redis:// or rediss://`);
  }
  const path = parsed.pathname.replace(/^\//, '');
  if (!/^\d*$/.test(path)) throw new OptionError('The path of the url is not a database number');
  return {
    ...(parsed.hostname !== '' && { host: parsed.hostname.replace(/^\[|\]$/g, '') }),
    ...(parsed.port !== '' && { port: Number(parsed.port) }),
    ...(parsed.username !== '' && { username: decodeURIComponent(parsed.username) }),
    ...(parsed.password !== '' && { password: decodeURIComponent(parsed.password) }),
    ...(path !== '' && { db: Number(path) }),
    ...(scheme[1] === 's' && { tls: {} }),
  };
}

function resolveTarget(target: ServerTarget): Address {
  const fromUrl = target.url === undefined ? {} : parseUrl(target.url);
  const host = target.host ?? fromUrl.host ?? '127.0.0.1';
  const tls = typeof target.tls === 'object' ? target.tls : target.tls === true ? {} : fromUrl.tls;
  return {
    host,
    port: target.port ?? fromUrl.port ?? 6379,
    username: target.username ?? fromUrl.username,
    password: target.password ?? fromUrl.password,
    db: target.db ?? fromUrl.db ?? 0,
    // Managed servers pick their certificate by this name, which Node sends only when told; an IP is not allowed.
    ...(tls !== undefined && { tls: isIP(host) === 0 ? { servername: host, ...tls } : tls }),
  };
}

function settings(address: Address, commandTimeoutMs: number) {
  return {
    ...address,
    lazyConnect: true,
    connectionName: 'holdfast',
    connectTimeout: commandTimeoutMs,
    noDelay: true,
    keepAlive: KEEP_ALIVE_MS,
    enableReadyCheck: true,
    disconnectTimeout: CLOSE_MS,
    retryStrategy: (attempt: number) =>
      Math.min(SHORTEST_RECONNECT_MS * 2 ** (attempt - 1), LONGEST_RECONNECT_MS),
    // Rejects what was in flight as soon as the connection breaks. By default it is sent again after the
    // reconnect and runs twice; turning the resending off instead leaves its promise pending for ever.
    maxRetriesPerRequest: 0,
    // A call made while offline fails at once, and certainly unsent: the runtime tries again with its own
    // back-off and deadline. Queued, it would run after its caller had given up.
    enableOfflineQueue: false,
    // A server that answers nothing for this long is left, so that a half-open connection is replaced.
    socketTimeout: commandTimeoutMs,
    // A demoted primary stays connected and refuses every write; a new connection finds the new one.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  };
}

/**
 * Connects to one server and resolves to a driver that keeps itself connected until it is closed.
 * Rejects with a DriverError, leaving nothing behind, when the first connection fails or is not ready
 * within `commandTimeoutMs`.
 */
export async function openIoredis(
  target: ServerTarget,
  options: { readonly commandTimeoutMs: number },
): Promise<Driver> {
  const address = resolveTarget(target);
  const { Redis } = await import('ioredis');
  const client = new Redis(settings(address, options.commandTimeoutMs));
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no answer within ${options.commandTimeoutMs} ms`)),
        options.commandTimeoutMs,
      );
      // The event tells why; the rejection of connect() only says that the connection is closed. It stays
      // attached, because ioredis prints an error that nobody listens to.
      client.on('error', reject);
      client
        .connect()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  } catch (cause) {
    client.disconnect();
    // ioredis attaches the command that failed, and a failed AUTH carries the password: causes get printed.
    if (cause instanceof Error) Reflect.deleteProperty(cause, 'command');
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : String(cause);
    throw new DriverError(`Cannot connect to ${address.host}:${address.port}: ${reason}`, { cause });
  }
  return ioredisDriver(client, () => disconnect(client));
}

/** Lets replies that are under way arrive, within a bound, then cuts the connection. */
async function disconnect(client: { quit(): Promise<unknown>; disconnect(): void }): Promise<void> {
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
