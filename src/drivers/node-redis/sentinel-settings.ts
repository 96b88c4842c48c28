/**
 * The settings of a Sentinel client of node-redis: where the Sentinels are, and how to connect to them.
 */
import type { Place } from '../sentinel-watch.ts';

type AddressMap = ((address: string) => Place | undefined) | Readonly<Record<string, Place>>;

/** The used options of `createSentinel`. */
export interface SentinelSettings {
  readonly name: string;
  readonly sentinelRootNodes: readonly Place[];
  readonly sentinelClientOptions?: { readonly socket?: object } | undefined;
  readonly nodeAddressMap?: AddressMap | undefined;
}

/** The library's method that makes a client with the same settings, and the object that it reads them from. */
interface Duplicable {
  readonly _self: unknown;
  duplicate?(): unknown;
}

/**
 * The library keeps the settings private, but passes them to the constructor of a duplicate. Undefined for version 5,
 * which makes no duplicates.
 */
export function settingsOf(sentinel: Duplicable): SentinelSettings | undefined {
  let passed: SentinelSettings | undefined;
  class Duplicate {
    readonly _self = sentinel._self;

    constructor(settings?: SentinelSettings) {
      passed = settings;
    }
  }
  try {
    sentinel.duplicate?.call(new Duplicate() as unknown as Duplicable);
  } catch {
    // A later version may do otherwise; the driver then follows as fast as the library does.
  }
  return Array.isArray(passed?.sentinelRootNodes) ? passed : undefined;
}

/** The reachable address of an announced server. */
export function placeIn({ nodeAddressMap: map }: SentinelSettings, { host, port }: Place): Place {
  const address = `${host}:${port}`;
  return (typeof map === 'function' ? map(address) : map?.[address]) ?? { host, port };
}

/** The options that make a duplicate of a client for the primary one for a Sentinel. */
export function sentinelOptions(
  { sentinelClientOptions: given }: SentinelSettings,
  { host, port }: Place,
): object {
  return {
    username: undefined,
    password: undefined,
    credentialsProvider: undefined,
    database: 0,
    ...given,
    RESP: 2,
    socket: { ...given?.socket, host, port, reconnectStrategy: false },
  };
}
