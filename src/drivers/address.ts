/**
 * Server addresses and credentials: the forms in which users give them, and how a URL and single fields combine.
 */
import { isIP } from 'node:net';
import { OptionError } from '../errors.ts';

/** One server. Single fields override the URL. */
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

/** A Sentinel, or a node of a Cluster. */
export interface NodeAddress {
  readonly host: string;
  /** 26379 for a Sentinel, 6379 for a node of a Cluster. */
  readonly port?: number | undefined;
}

/** A primary that Sentinels watch over. */
export interface SentinelTarget {
  readonly sentinels: readonly NodeAddress[];
  /** The Sentinels' name for the primary. */
  readonly name: string;
  /** For the primary. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** For the Sentinels themselves. */
  readonly sentinelUsername?: string | undefined;
  readonly sentinelPassword?: string | undefined;
  /** TLS to the primary: `true`, or the options of `tls.connect`. */
  readonly tls?: boolean | object | undefined;
  /** TLS to the Sentinels. */
  readonly sentinelTls?: boolean | object | undefined;
  readonly db?: number | undefined;
}

/** Maps the address that the Cluster announces for a node to a reachable one: `{ '10.0.0.5:6379': … }`. */
export type NatMap =
  | Readonly<Record<string, { readonly host: string; readonly port: number }>>
  | ((address: string) => { host: string; port: number } | null);

/** A Cluster. Some of its nodes are enough; they name the others. */
export interface ClusterTarget {
  readonly cluster: readonly NodeAddress[];
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** `true`, or the options of `tls.connect`, for every node. */
  readonly tls?: boolean | object | undefined;
  readonly natMap?: NatMap | undefined;
  /** A Cluster has only database 0. */
  readonly db?: 0 | undefined;
}

/** A primary that stays the primary, and its replicas. */
export interface FixedTarget {
  readonly master: ServerTarget;
  /** Only counted, never connected to. */
  readonly replicas: readonly ServerTarget[];
}

/** The result of combining the fields and the URL. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly tls?: object | undefined;
  readonly db: number;
}

function parseUrl(url: string): Partial<Address> {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    // The message omits the URL and the error omits the cause: both contain the password.
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

/** The options of `tls.connect` for a target; undefined without TLS. */
export function tlsOptions(tls: boolean | object | undefined): object | undefined {
  return typeof tls === 'object' ? tls : tls === true ? {} : undefined;
}

/** Managed servers pick their certificate by this name. Node sends it only when it is set; an IP is not allowed. */
export function named(tls: object, host: string): object {
  return isIP(host) === 0 ? { servername: host, ...tls } : tls;
}

/**
 * Resolves a target to an address. Single fields override the URL.
 *
 * @throws OptionError
 */
export function resolveServer(target: ServerTarget): Address {
  const fromUrl = target.url === undefined ? {} : parseUrl(target.url);
  const host = target.host ?? fromUrl.host ?? '127.0.0.1';
  const tls = tlsOptions(target.tls) ?? fromUrl.tls;
  return {
    host,
    port: target.port ?? fromUrl.port ?? 6379,
    username: target.username ?? fromUrl.username,
    password: target.password ?? fromUrl.password,
    db: target.db ?? fromUrl.db ?? 0,
    ...(tls !== undefined && { tls: named(tls, host) }),
  };
}
