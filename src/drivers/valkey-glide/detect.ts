/**
 * Finds the driver for a client of Valkey GLIDE, and the client's configuration.
 *
 * A GLIDE client keeps its configuration as `config` and its closed state as `isClosed`; neither is part of its public
 * interface. To avoid relying on that, users pass the configuration beside the client. Without a configuration, the
 * driver opens no dedicated connections, and says so when one is requested.
 */
import { OptionError } from '../../errors.ts';
import type { Driver } from '../driver.ts';
import { glideClusterDriver } from './cluster.ts';
import type { GlideClient } from './command.ts';
import { type GlideConfiguration, isGlideConfiguration } from './connection.ts';
import { glideDriver } from './one-server.ts';

function isGlide(value: unknown): value is GlideClient {
  return hasMethod(value, 'customCommand') && hasMethod(value, 'invokeScript');
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function';
}

/** A driver for a GlideClient or GlideClusterClient, alone or as `{ client, config }`; undefined for anything else. */
export function detectGlide(given: object): Driver | undefined {
  const client: unknown = isGlide(given) ? given : Reflect.get(given, 'client');
  if (!isGlide(client)) return undefined;
  if (Reflect.get(client, 'isClosed') === true) {
    throw new OptionError('This Valkey GLIDE client is closed: pass an open client to Holdfast.from()');
  }
  const config: unknown = Reflect.get(given, 'config');
  if (!isGlideConfiguration(config)) {
    if (client === given) return driverFor(client, undefined);
    throw new OptionError(
      'The config next to a Valkey GLIDE client must be the one it was made with: { addresses: [{ host, port }], … }',
    );
  }
  if (config.readOnly === true) {
    throw new OptionError('This Valkey GLIDE client is readOnly: locks need a client that can write');
  }
  return driverFor(client, config);
}

function driverFor(client: GlideClient, config: GlideConfiguration | undefined): Driver {
  const isCluster = hasMethod(client, 'invokeScriptWithRoute');
  return isCluster ? glideClusterDriver(client, config) : glideDriver(client, config);
}
