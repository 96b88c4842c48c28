/**
 * Dedicated connections for a client of Valkey GLIDE, opened with ioredis.
 *
 * GLIDE's own connections cannot keep the contract of `driver.ts`: GLIDE reconnects silently, moves subscriptions
 * between servers silently, and binds nothing to one connection of a Cluster; a subscription that the server denies is
 * no error, and waiting for it asks thousands of times a second. ioredis is a dependency anyway, so it connects, with
 * the configuration of the GLIDE client. Without one, or with one that only GLIDE can use, opening fails with an error
 * that says what to do, and waiters poll.
 */
import { DriverError } from '../../errors.ts';
import { named } from '../address.ts';
import type { ConnectionStates } from '../connection-state.ts';
import type { Connection, ConnectionEvents } from '../driver.ts';
import { type IoredisClient, openIoredisConnection } from '../ioredis/connection.ts';

/** The used fields of the configuration of a GlideClient or GlideClusterClient. */
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
/** GLIDE's default. */
const DEFAULT_CONNECT_MS = 2_000;

/** Errors of Node.js for a certificate that GLIDE may trust: GLIDE uses the system's list, Node.js its own. */
const UNTRUSTED = /CERT|UNABLE_TO_VERIFY/;

/** Whether this is a GLIDE configuration, judged by the fields used here. */
export function isGlideConfiguration(value: unknown): value is GlideConfiguration {
  if (typeof value !== 'object' || value === null) return false;
  const addresses: unknown = Reflect.get(value, 'addresses');
  return (
    Array.isArray(addresses) &&
    addresses.length > 0 &&
    addresses.every((address: unknown) => typeof (address as GlideAddress | null)?.host === 'string')
  );
}

/** The server addresses of the configuration. */
export function addressesOf(config: GlideConfiguration): GlideAddress[] {
  return config.addresses.map(({ host, port = DEFAULT_PORT }) => ({ host, port }));
}

/** Rejects a configuration that cannot be used to connect, with an error that is not retried silently. */
export function usableConfiguration(config: GlideConfiguration | undefined): GlideConfiguration {
  if (config === undefined) {
    throw new DriverError(
      'This Valkey GLIDE client does not keep its configuration, which a further connection needs. Pass the ' +
        'configuration it was made with: Holdfast.from({ client, config })',
    );
  }
  if (config.credentials?.iamConfig !== undefined) {
    throw new DriverError(
      'Only Valkey GLIDE itself can log in by IAM. Pass a configuration with the username and password of a ' +
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
      `Node.js does not trust the server's certificate (${message}). Add its certificate authority to ` +
        'advancedConfiguration.tlsAdvancedConfiguration.rootCertificates or to NODE_EXTRA_CA_CERTS',
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
