/**
 * The driver for a `Redis` instance of ioredis 5 or 6 or of iovalkey, which share one design. This file handles one
 * server; `sentinel.ts` handles a primary behind Sentinels.
 *
 * Typed structurally, so that users do not need the library's types.
 */
import { OptionError } from '../../errors.ts';
import type { Driver } from '../driver.ts';
import { rememberErrors } from '../last-error.ts';
import { OneServerDriver } from '../one-server.ts';
import { ioredisCondition } from './condition.ts';
import { type IoredisClient, openIoredisConnection, sendThrough } from './connection.ts';
import { SentinelPrimary } from './sentinel.ts';

/**
 * Makes a driver of an ioredis or iovalkey client.
 *
 * @param connectionName the name of further clients that the driver opens
 * @param disconnectClient what `close()` does to the client itself; undefined for the user's client.
 * @throws OptionError
 */
export function ioredisDriver(
  client: IoredisClient,
  connectionName?: string,
  disconnectClient?: () => Promise<void>,
): Driver {
  const { sentinels, role, keyPrefix } = client.options;
  if (Array.isArray(sentinels)) {
    if (role !== 'slave') return new OneServerDriver(new SentinelPrimary(client, { connectionName }));
    throw new OptionError(
      'This ioredis client connects to a replica (role: "slave"), but locks need the primary: use role: "master"',
    );
  }
  rememberErrors(client);
  return new OneServerDriver({
    library: 'ioredis',
    writesOnce: true,
    topology: 'standalone',
    keyPrefix: String(keyPrefix ?? ''),
    send: sendThrough(client),
    open: (connectionStates, events) => openIoredisConnection(client, connectionStates, events),
    condition: () => ioredisCondition(client, disconnectClient !== undefined),
    ...(disconnectClient && { close: disconnectClient }),
  });
}
