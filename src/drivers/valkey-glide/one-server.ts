/**
 * The driver for one server, or a primary with replicas, behind a GlideClient of Valkey GLIDE 2.
 *
 * Typed structurally, so that users need neither the library nor its types: it is never imported. Commands go through
 * the user's client; dedicated connections use its configuration, see `connection.ts`.
 */
import type { Driver } from '../driver.ts';
import { OneServerDriver } from '../one-server.ts';
import { type GlideClient, glideCondition, send } from './command.ts';
import { type GlideConfiguration, usableConfiguration } from './connection.ts';
import { openToPrimary } from './primary.ts';

/**
 * Makes a driver of a GlideClient.
 *
 * @param config what the client was made with; without it the driver opens no dedicated connections.
 */
export function glideDriver(client: GlideClient, config: GlideConfiguration | undefined): Driver {
  return new OneServerDriver({
    library: 'valkey-glide',
    writesOnce: false,
    topology: 'standalone',
    keyPrefix: '',
    send: (command) => send(client, command),
    condition: () => glideCondition(client),
    open: async (connectionStates, events) =>
      openToPrimary(usableConfiguration(config), connectionStates, events),
  });
}
