/**
 * Checks where to connect before anything is sent: which fields a target may have, and which belong together.
 * `drivers/address.ts` parses URLs.
 */
import {
  type ClusterTarget,
  type FixedTarget,
  resolveServer,
  type SentinelTarget,
  type ServerTarget,
} from '../drivers/address.ts';
import { OptionError } from '../errors.ts';
import { checkBy } from './checks.ts';
import { integer, only, show, text } from './value-checks.ts';

/** Where to connect: one server, Sentinels, a Cluster, a fixed primary, or a private server for development. */
export type Target =
  | ServerTarget
  | SentinelTarget
  | ClusterTarget
  | FixedTarget
  | { readonly embedded: true };

/** A checked target. */
export type Destination =
  | { readonly kind: 'embedded' }
  | { readonly kind: 'server'; readonly server: ServerTarget }
  /** holdfast does not connect to the listed replicas: this is how many there should be. */
  | { readonly kind: 'fixed'; readonly server: ServerTarget; readonly expectedReplicas: number }
  | { readonly kind: 'sentinel'; readonly target: SentinelTarget }
  | { readonly kind: 'cluster'; readonly target: ClusterTarget };

function tls(value: unknown, what: string): boolean | object {
  if (typeof value === 'boolean' || (typeof value === 'object' && value !== null)) return value;
  throw new OptionError(`${what} must be true, false or the options of tls.connect, not ${show(value)}`);
}

/** A list of at least one object. */
function list(value: unknown, what: string): readonly object[] {
  if (Array.isArray(value) && value.length > 0 && value.every((one) => Object(one) === one)) return value;
  const got = Array.isArray(value) && value.length === 0 ? 'an empty list' : show(value);
  throw new OptionError(`${what} must be a list of { host, port }, not ${got}`);
}

function addresses(value: unknown, what: string): readonly object[] {
  return list(value, what).map((given) => {
    const address = checkBy({ host: text, port }, given);
    if (address.host === undefined)
      throw new OptionError(`Every element of ${what} must have a host: { host, port }`);
    return address;
  });
}

/** Whether a function returns addresses is known only when it is called. */
function natMap(value: unknown, what: string): object {
  if (typeof value === 'function' || (Object(value) === value && !Array.isArray(value)))
    return value as object;
  throw new OptionError(`${what} must be an object or a function, not ${show(value)}`);
}

const port = integer(1, 65_535);
const login = { username: text, password: text };
const db = integer(0);

const SERVER = { url: text, host: text, port, ...login, tls, db };
const SENTINELS = {
  sentinels: addresses,
  name: text,
  ...login,
  sentinelUsername: text,
  sentinelPassword: text,
  tls,
  sentinelTls: tls,
  db,
};
const CLUSTER = { cluster: addresses, ...login, tls, natMap, db: only([0], '0 in a Cluster') };
const FIXED = { master: (value: unknown) => value, replicas: list };
const EMBEDDED = { embedded: only([true], 'true or left out') };

/** The fields that decide the kind of target. */
const KINDS = ['sentinels', 'cluster', 'master', 'embedded'] as const;

const SHAPES = {
  sentinels: "{ sentinels: [{ host, port }], name: 'mymaster' }",
  cluster: '{ cluster: [{ host, port }] }',
  master: '{ master: { host, port }, replicas: [{ host, port }] }',
} as const;

/** Fields that are valid only together with another field. */
const COMPANIONS: Readonly<Record<string, keyof typeof SHAPES>> = {
  name: 'sentinels',
  sentinelUsername: 'sentinels',
  sentinelPassword: 'sentinels',
  sentinelTls: 'sentinels',
  natMap: 'cluster',
  replicas: 'master',
};

/**
 * Checks where to connect: a URL or an object. `undefined`, say from a variable that is not set, is an error.
 *
 * @throws OptionError
 */
export function checkTarget(target: unknown): Destination {
  if (typeof target === 'string') return { kind: 'server', server: checkServer({ url: target }) };
  if (typeof target !== 'object' || target === null) {
    throw new OptionError(`The target must be a URL or an object, not ${show(target)}`);
  }
  const fields = Object.entries(target).filter(([, value]) => value !== undefined);
  const given = Object.fromEntries(
    fields.filter(([field, value]) => field !== 'embedded' || value !== false),
  );
  const kind = kindOf(given);
  switch (kind) {
    case 'sentinels':
      return { kind: 'sentinel', target: checkSentinels(given) };
    case 'cluster':
      return { kind: 'cluster', target: checkBy(CLUSTER, given) as ClusterTarget };
    case 'master':
      return checkFixed(given);
    case 'embedded':
      checkBy(EMBEDDED, given);
      return { kind: 'embedded' };
    default:
      return { kind: 'server', server: checkServer(given) };
  }
}

function kindOf(given: object): (typeof KINDS)[number] | undefined {
  const [kind, another] = KINDS.filter((field) => Object.hasOwn(given, field));
  if (another !== undefined) throw new OptionError(`A target cannot have both ${kind} and ${another}`);
  for (const field of Object.keys(given)) {
    const owner = COMPANIONS[field];
    if (owner !== undefined && owner !== kind) {
      throw new OptionError(`${field} requires ${owner}: ${SHAPES[owner]}`);
    }
  }
  return kind;
}

function checkServer(given: unknown): ServerTarget {
  const server = checkBy(SERVER, given);
  resolveServer(server);
  return server;
}

function checkSentinels(given: object): SentinelTarget {
  const target = checkBy(SENTINELS, given);
  if (target.name === undefined) {
    throw new OptionError(`name must be the primary's name at the Sentinels: ${SHAPES.sentinels}`);
  }
  return target as SentinelTarget;
}

function checkFixed(given: object): Destination {
  const { master, replicas } = checkBy(FIXED, given);
  if (replicas === undefined) {
    throw new OptionError(
      `A target with master must list its replicas: ${SHAPES.master}. Use { url } for a server without replicas`,
    );
  }
  const server = checkServer(master);
  const places = [server, ...replicas.map(checkServer)].map((one) => {
    const address = resolveServer(one);
    return `${address.host}:${address.port}`;
  });
  const twice = places.find((place, index) => places.indexOf(place) < index);
  if (twice !== undefined) throw new OptionError(`${twice} is listed twice among master and replicas`);
  return { kind: 'fixed', server, expectedReplicas: replicas.length };
}
