/**
 * Opens holdfast's own connections with ioredis.
 *
 * The first connection is made before the driver is returned, so that a wrong address or password is reported at once.
 * Time-outs of single calls belong to `call-timeout.ts`, which the caller puts around the driver; a Cluster belongs to
 * `connect-cluster.ts`.
 */
import type { Redis } from 'ioredis';
import { DriverError } from '../errors.ts';
import type { Destination } from '../options/target.ts';
import { named, resolveServer, type SentinelTarget, type ServerTarget, tlsOptions } from './address.ts';
import { openCluster } from './connect-cluster.ts';
import {
  cannotConnect,
  commandSettings,
  disconnect,
  listed,
  type OpenOptions,
  reconnectDelayMs,
  whenServing,
  within,
} from './connect-settings.ts';
import type { Driver } from './driver.ts';
import { ioredisDriver } from './ioredis/one-server.ts';
import { SENTINEL_PORT, SentinelPrimary } from './ioredis/sentinel.ts';
import { OneServerDriver } from './one-server.ts';

/**
 * Connects, and resolves to a driver that stays connected until it is closed. Rejects with a DriverError, leaving
 * nothing open, when the first connection fails or is not ready within `commandTimeoutMs`.
 */
export function openDriver(
  where: Exclude<Destination, { kind: 'embedded' }>,
  options: OpenOptions,
): Promise<Driver> {
  switch (where.kind) {
    case 'server':
      return openServer(where.server, options);
    case 'fixed':
      return openServer(where.server, options, assertPrimary);
    case 'sentinel':
      return openSentinels(where.target, options);
    case 'cluster':
      return openCluster(where.target, options);
  }
}

/** The settings of a connection to one server. A lost connection is opened again. */
function settings(options: OpenOptions) {
  return {
    ...commandSettings(options),
    retryStrategy: reconnectDelayMs,
    // A demoted primary stays connected and refuses every write; a new connection finds the new primary.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  };
}

async function openServer(
  target: ServerTarget,
  options: OpenOptions,
  check: (client: Redis, where: string) => Promise<void> = async () => {},
): Promise<Driver> {
  const address = resolveServer(target);
  const where = `${address.host}:${address.port}`;
  const { Redis } = await import('ioredis');
  const client = new Redis({ ...settings(options), ...address });
  try {
    await within(options.commandTimeoutMs, client, async () => {
      await client.connect();
      await whenServing(client);
      await check(client, where);
    });
  } catch (cause) {
    client.disconnect();
    throw cause instanceof DriverError ? cause : cannotConnect(where, cause, address.tls !== undefined);
  }
  return ioredisDriver(client, options.connectionName, () => disconnect(client));
}

/** Checks the role: without Sentinels, no other component would report that the listed primary is a replica. */
async function assertPrimary(client: Redis, where: string): Promise<void> {
  let role: unknown;
  try {
    role = await client.role();
  } catch (error) {
    // Without permission, trust the list.
    if (error instanceof Error && error.message.startsWith('NOPERM')) return;
    throw error;
  }
  const [kind, host, port] = role as [string, unknown, unknown];
  if (kind === 'master') return;
  throw new DriverError(`${where} is listed as the master, but is a replica of ${host}:${port}`);
}

/** The primary's address from the Sentinels. ioredis passes the fields to `tls.connect`; those of `tls` win. */
function withServerName(address: string): { host: string; port: number } {
  const [, host = '', port] = /^(.*):(\d+)$/.exec(address) ?? [];
  return { host, port: Number(port), ...named({}, host) };
}

async function openSentinels(target: SentinelTarget, options: OpenOptions): Promise<Driver> {
  const { commandTimeoutMs } = options;
  const { name, username, password, db = 0, sentinelUsername, sentinelPassword } = target;
  const sentinels = target.sentinels.map(({ host, port = SENTINEL_PORT }) => ({ host, port }));
  const [tls, sentinelTLS] = [tlsOptions(target.tls), tlsOptions(target.sentinelTls)];
  const { Redis } = await import('ioredis');
  const model = new Redis({
    ...commandSettings(options),
    sentinels,
    name,
    username,
    password,
    db,
    tls,
    enableTLSForSentinelMode: tls !== undefined,
    natMap: withServerName,
    sentinelUsername,
    sentinelPassword,
    sentinelTLS,
  });
  const primary = new SentinelPrimary(model, { isOurs: true, connectionName: options.connectionName });
  try {
    await within(commandTimeoutMs, model, async () => {
      const client = await primary.find();
      await within(commandTimeoutMs, client, async () => {
        await client.connect();
        await whenServing(client);
      });
    });
  } catch (cause) {
    await primary.close();
    throw cannotConnect(
      `the primary "${name}" through the Sentinels at ${listed(sentinels)}`,
      cause,
      tls !== undefined,
    );
  }
  return new OneServerDriver(primary);
}
