/**
 * Connections of our own for a client of Valkey GLIDE, opened with ioredis.
 *
 * GLIDE cannot give one that keeps the promises of `driver.ts`: it reconnects by itself and tells nobody,
 * moves subscriptions between servers unseen, and pins nothing to one connection of a Cluster; a subscription
 * that the server denies is no error, and waiting for it asks thousands of times a second. ioredis is here
 * anyway, so it connects, by the configuration that the GLIDE client was made with. Without one, or with one
 * that only GLIDE can use, opening is refused with a text that says what to do, and waiting polls.
 */
import { DriverError } from '../../errors.ts';
import { named } from '../address.ts';
import type { ConnectionStates } from '../connection-state.ts';
import type { Connection, ConnectionEvents } from '../driver.ts';
import { type IoredisClient, openIoredisConnection } from '../ioredis/connection.ts';

/** What is used of the configuration of a GlideClient or GlideClusterClient. */
export interface GlideConfiguration {
  readonly addresses: readonly { readonly host: string; readonly port?: number | undefined }[];
  readonly databaseId?: number | undefined;
  readonly clientName?: string | undefined;
  readonly useTLS?: boolean | undefined;
  readonly credentials?:
    | {
        readonly username?: string | undefined;
        readonly password?: string | undefined;
        readonly iamConfig?: object | undefined;
      }
    | undefined;
  readonly addressResolver?: ((host: string, port: number) => readonly [string, number]) | undefined;
  readonly readOnly?: boolean | undefined;
  readonly nodeDiscoveryMode?: number | undefined;
  readonly advancedConfiguration?:
    | {
        readonly connectionTimeout?: number | undefined;
        readonly tlsAdvancedConfiguration?:
          | { readonly insecure?: boolean; readonly rootCertificates?: string | Uint8Array }
          | undefined;
      }
    | undefined;
}

export interface GlideAddress {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 6379;
/** What GLIDE takes when it is told nothing. */
const DEFAULT_CONNECT_MS = 2_000;

/** What Node.js says of a certificate that GLIDE may well trust: GLIDE asks the system, Node.js its own list. */
const UNTRUSTED = /CERT|UNABLE_TO_VERIFY/;

/** Whether this is a configuration of GLIDE, as far as it is used here. */
export function isGlideConfiguration(value: unknown): value is GlideConfiguration {
  if (typeof value !== 'object' || value === null) return false;
  const addresses: unknown = Reflect.get(value, 'addresses');
  return (
    Array.isArray(addresses) &&
    addresses.length > 0 &&
    addresses.every((address: unknown) => typeof (address as GlideAddress | null)?.host === 'string')
  );
}

/** Where the configuration says the servers are. */
export function addressesOf(config: GlideConfiguration): GlideAddress[] {
  return config.addresses.map(({ host, port = DEFAULT_PORT }) => ({ host, port }));
}

/** Refuses, in a way that is not tried again silently, what cannot be used to connect. */
export function usableConfiguration(config: GlideConfiguration | undefined): GlideConfiguration {
  if (config === undefined) {
    throw new DriverError(
      'This Valkey GLIDE client keeps no configuration to open a connection with; hand over the one it was ' +
        'made with: Holdfast.from({ client, config })',
    );
  }
  if (config.credentials?.iamConfig !== undefined) {
    throw new DriverError(
      'Only Valkey GLIDE itself can log in by IAM; hand over a configuration with the name and password of a ' +
        'user: Holdfast.from({ client, config })',
    );
  }
  return config;
}

/** Opens a dedicated connection to one server, as soon as its address is known. */
export async function openGlideConnection(
  config: GlideConfiguration,
  address: GlideAddress | Promise<GlideAddress>,
  connectionStates: ConnectionStates,
  events: ConnectionEvents,
): Promise<Connection> {
  try {
    return await openIoredisConnection(model(config, address), connectionStates, events);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (config.useTLS !== true || code === undefined || !UNTRUSTED.test(code)) throw error;
    throw new DriverError(
      `Node.js does not trust the server's certificate (${message}); name who vouches for it in ` +
        'advancedConfiguration.tlsAdvancedConfiguration.rootCertificates, or in NODE_EXTRA_CA_CERTS',
    );
  }
}

/** A client that is never connected, only copied. */
async function model(
  config: GlideConfiguration,
  address: GlideAddress | Promise<GlideAddress>,
): Promise<IoredisClient> {
  const [{ Redis }, known] = await Promise.all([import('ioredis'), address]);
  return new Redis(connectionOptions(config, known));
}

function connectionOptions(config: GlideConfiguration, address: GlideAddress): object {
  const { credentials, databaseId = 0, advancedConfiguration } = config;
  const [host, port] = config.addressResolver?.(address.host, address.port) ?? [address.host, address.port];
  const trust = advancedConfiguration?.tlsAdvancedConfiguration;
  return {
    host,
    port,
    db: databaseId,
    lazyConnect: true,
    connectTimeout: advancedConfiguration?.connectionTimeout ?? DEFAULT_CONNECT_MS,
    ...(config.clientName && { connectionName: config.clientName }),
    ...(credentials?.username && { username: credentials.username }),
    ...(credentials?.password && { password: credentials.password }),
    ...(config.useTLS === true && {
      tls: named(
        {
          ...(trust?.insecure === true && { rejectUnauthorized: false }),
          ...(trust?.rootCertificates !== undefined && { ca: trust.rootCertificates }),
        },
        host,
      ),
    }),
  };
}
