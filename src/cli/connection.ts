/**
 * Where a command connects: the flags, the environment, and the target and options that the library makes of them.
 */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { Holdfast } from '../client.ts';
import type { ClientOptions } from '../options/client-options.ts';
import type { Target } from '../options/target.ts';
import { messageOf, UsageError } from './failure.ts';
import { addresses, duration, type HostAndPort, wholeNumber } from './values.ts';

/** The values of the flags of `addConnectionOptions`. */
export interface ConnectionFlags {
  readonly url?: string;
  readonly sentinel?: readonly HostAndPort[];
  readonly sentinelName?: string;
  readonly sentinelUsername?: string;
  readonly sentinelTls?: true;
  readonly cluster?: readonly HostAndPort[];
  readonly username?: string;
  readonly db?: number;
  readonly tls?: true;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly keyPrefix?: string;
  readonly commandTimeout?: number;
}

/** The variables that count; `process.env` has them. */
export interface ConnectionEnvironment {
  readonly HOLDFAST_URL?: string | undefined;
  readonly HOLDFAST_PASSWORD?: string | undefined;
  readonly HOLDFAST_SENTINEL_PASSWORD?: string | undefined;
}

const DEFAULT_URL = 'redis://127.0.0.1:6379';

/** What each variable is for. */
export const ENVIRONMENT: readonly (readonly [name: string, meaning: string])[] = [
  ['HOLDFAST_URL', `where to connect without --url, --sentinel and --cluster; without it ${DEFAULT_URL}`],
  ['HOLDFAST_PASSWORD', 'the password; that of a URL counts if this is not set'],
  ['HOLDFAST_SENTINEL_PASSWORD', 'the password of the Sentinels themselves'],
  ['HOLDFAST_DASHBOARD_TOKEN', '`dashboard`: what people must know, without --token'],
  ['NO_COLOR', 'any text: no colours'],
];

/** Adds the flags that say where to connect; they are the same for every command. */
export function addConnectionOptions(command: Command): Command {
  return command
    .optionsGroup('Connection:')
    .option('--url <url>', 'redis://user:password@host:port/db, or rediss:// for TLS')
    .option('--sentinel <host:port>', 'a Sentinel; repeat the flag for each', addresses)
    .option('--sentinel-name <name>', "the Sentinels' name for the primary")
    .option('--sentinel-username <name>', 'the user at the Sentinels themselves')
    .option('--sentinel-tls', 'TLS to the Sentinels too, with the same files')
    .option('--cluster <host:port>', 'a node of a Cluster; repeat the flag for more', addresses)
    .option('--username <name>', 'the ACL user; its password is in HOLDFAST_PASSWORD or in the URL')
    .option('--db <number>', 'the database', wholeNumber)
    .option('--tls', 'TLS with the certificate authorities of Node.js')
    .option('--tls-ca <file>', 'TLS with this certificate authority (PEM)')
    .option('--tls-cert <file>', 'the certificate of this client (PEM)')
    .option('--tls-key <file>', 'the key of this certificate (PEM)')
    .option('--key-prefix <text>', 'what your mapName, or a nameMapper of Redisson, puts before names')
    .option('--command-timeout <time>', 'the limit on every call to the server (default: 3s)', duration);
}

function readPem(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: ${messageOf(error)}`);
  }
}

function tlsOf({ tls, tlsCa, tlsCert, tlsKey }: ConnectionFlags): true | object | undefined {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new UsageError('--tls-cert and --tls-key belong together');
  }
  const files = {
    ...(tlsCa !== undefined && { ca: readPem('--tls-ca', tlsCa) }),
    ...(tlsCert !== undefined && { cert: readPem('--tls-cert', tlsCert) }),
    ...(tlsKey !== undefined && { key: readPem('--tls-key', tlsKey) }),
  };
  return Object.keys(files).length > 0 ? files : tls;
}

/** @throws UsageError where flags contradict each other; the library checks the rest */
export function targetOf(flags: ConnectionFlags, env: ConnectionEnvironment): Target {
  const { url, sentinel, sentinelName, sentinelUsername, sentinelTls, cluster, username, db } = flags;
  const given = Object.entries({ '--url': url, '--sentinel': sentinel, '--cluster': cluster })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => flag);
  if (given.length > 1) throw new UsageError(`${given.join(' and ')} exclude each other`);
  if (sentinel === undefined && (sentinelName ?? sentinelUsername ?? sentinelTls) !== undefined) {
    throw new UsageError('--sentinel-name, --sentinel-username and --sentinel-tls need --sentinel');
  }
  const { HOLDFAST_URL, HOLDFAST_PASSWORD, HOLDFAST_SENTINEL_PASSWORD } = env;
  // An empty variable counts as one that is not set.
  const password = HOLDFAST_PASSWORD || undefined;
  const tls = tlsOf(flags);
  const login = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls !== undefined && { tls }),
  };
  if (sentinel !== undefined) {
    if (sentinelName === undefined) throw new UsageError('--sentinel needs --sentinel-name');
    const sentinelPassword = HOLDFAST_SENTINEL_PASSWORD || undefined;
    const ofSentinels = {
      sentinelUsername,
      sentinelPassword,
      sentinelTls: sentinelTls && (tls ?? true),
    };
    return { sentinels: sentinel, name: sentinelName, ...login, ...ofSentinels, db };
  }
  if (cluster !== undefined) {
    if (db !== undefined && db !== 0) throw new UsageError('A Cluster has only database 0');
    return { cluster, ...login };
  }
  return { url: url ?? (HOLDFAST_URL || DEFAULT_URL), ...login, db };
}

/** The options of the client that the flags stand for. */
export function clientOptionsOf({ keyPrefix = '', commandTimeout }: ConnectionFlags): ClientOptions {
  return {
    ...(keyPrefix !== '' && { mapName: (name: string) => keyPrefix + name }),
    ...(commandTimeout !== undefined && { commandTimeoutMs: commandTimeout }),
  };
}

/** Connects as the flags say. */
export function connect(flags: ConnectionFlags, options: ClientOptions = {}): Promise<Holdfast> {
  return Holdfast.connect(targetOf(flags, process.env), { ...clientOptionsOf(flags), ...options });
}
