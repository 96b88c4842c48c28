/**
 * `client.inspect` and `client.list`: what is in Redis, for people. Reads only.
 */
import type { Driver } from '../drivers/driver.ts';
import { rateValueKey, sharesOneSlot } from '../keys.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type ClientRecords, clientOf, KnownClients } from './client-records.ts';
import { Describer, type HeldSince, type Sight } from './describe.ts';
import type { Description, InspectOptions, ListOptions } from './description.ts';

/** Keys described together: as many questions are under way at once. */
const AT_ONCE = 100;

/** Keys that Redisson and holdfast derive from a name: the last token of a fenced lock is a whole number too. */
const DERIVED = /^(?:redisson|holdfast)_[a-z_]+:/;

export class Inspector {
  readonly #driver: Driver;
  readonly #runtime: Runtime;
  readonly #records: ClientRecords;

  constructor(runtime: Runtime, records: ClientRecords) {
    this.#driver = runtime.driver;
    this.#runtime = runtime;
    this.#records = records;
  }

  async inspect(key: string, { as }: InspectOptions): Promise<Description> {
    const sight = await new Describer(this.#driver, this.#heldSince()).look(key, as);
    return sight.describe(await this.#records.read(sight.owners));
  }

  /** Looks at the keys in slices as they are found, and keeps only what is listed. */
  async list(pattern: string, { counters = false }: ListOptions): Promise<Description[]> {
    const describer = new Describer(this.#driver, this.#heldSince());
    const found = new Map<string, Sight>();
    const nobody = new KnownClients();
    const look = async (keys: readonly string[]) => {
      const sights = await Promise.all(keys.map((key) => describer.look(key)));
      for (const [i, sight] of sights.entries()) {
        if (isListed(sight.describe(nobody), counters)) found.set(keys[i] as string, sight);
      }
    };
    let slice: string[] = [];
    for await (const key of this.#driver.scan(pattern)) {
      if (found.has(key) || !this.#isReadable(key)) continue;
      slice.push(key);
      if (slice.length < AT_ONCE) continue;
      await look(slice);
      slice = [];
    }
    await look(slice);
    const sights = [...found.values()];
    const known = await this.#records.read(sights.flatMap(({ owners }) => owners));
    return withoutRateValues(sights.map((sight) => sight.describe(known))).sort(byKey);
  }

  /** In a Cluster, no primitive has a key whose derived keys would be in other slots. */
  #isReadable(key: string): boolean {
    return this.#driver.topology !== 'cluster' || sharesOneSlot(key);
  }

  /** The holds of this client, by key and owner field. */
  #heldSince(): HeldSince {
    const { tenures, leaseClock } = this.#runtime;
    const wallOffsetMs = Date.now() - leaseClock.now();
    const since = new Map<string, Map<string, number>>();
    for (const { protocol, owner, beganAt } of tenures) {
      const owners = since.get(protocol.key) ?? new Map();
      since.set(protocol.key, owners.set(owner, beganAt));
    }
    return (key, owner) => {
      const beganAt = since.get(key)?.get(owner);
      return beganAt === undefined ? null : new Date(Math.round(beganAt + wallOffsetMs));
    };
  }
}

/**
 * Whether a listing shows it. A lock counts if its holders are owner fields of Redisson or holdfast: a hash of yours
 * may have one field and a number too, and a string of yours may expire.
 */
function isListed(description: Description, counters: boolean): boolean {
  switch (description.kind) {
    case 'free':
    case 'other':
      return false;
    case 'counter':
      return counters && !DERIVED.test(description.key);
    case 'lock':
    case 'simple':
    case 'fair':
    case 'fenced':
    case 'readWrite':
      return description.holders.every(({ owner }) => clientOf(owner) !== null);
    default:
      return true;
  }
}

function byKey(one: Description, other: Description): number {
  return one.key < other.key ? -1 : 1;
}

/** The permits left in a rate limiter are a whole number under a key of their own. */
function withoutRateValues(descriptions: readonly Description[]): Description[] {
  const values = descriptions
    .filter(({ kind }) => kind === 'rateLimiter')
    .map(({ key }) => rateValueKey(key));
  return descriptions.filter(({ kind, key }) => {
    return kind !== 'counter' || !values.some((value) => key === value || key.startsWith(`${value}:`));
  });
}
