/**
 * `client.inspect` and `client.list`: what is in Redis, for people. Reads only.
 */
import type { Driver } from '../drivers/driver.ts';
import { rateValueKey, sharesOneSlot } from '../keys.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { inspectSift } from '../scripts/generated.ts';
import { type ClientRecords, clientOf, KnownClients } from './client-records.ts';
import { Describer, type HeldSince, type Sight } from './describe.ts';
import type { Description, InspectOptions, ListOptions } from './description.ts';

/** Keys described together, or sifted in one call: as many questions are under way at once. */
const AT_ONCE = 100;

/** Keys that Redisson and holdfast derive from a name: the last token of a fenced lock is a whole number too. */
const DERIVED = /^(?:redisson|holdfast)_[a-z_]+:/;

/** What this asks through. */
export type InspectedDriver = Pick<Driver, 'topology' | 'script' | 'scan'>;

/** A part of a walk through the key space. */
export interface Page {
  /** How many keys the server named. */
  readonly scanned: number;
  /** What is listed of them, by key. */
  readonly found: ReadonlyMap<string, Sight>;
}

export class Inspector {
  readonly #driver: InspectedDriver;
  readonly #runtime: Runtime;
  readonly #records: ClientRecords;

  /** @param driver what asks: that of the runtime, or one that sets a pace */
  constructor(driver: InspectedDriver, runtime: Runtime, records: ClientRecords) {
    this.#driver = driver;
    this.#runtime = runtime;
    this.#records = records;
  }

  async inspect(key: string, { as }: InspectOptions): Promise<Description> {
    const sight = await new Describer(this.#driver, this.#heldSince()).look(key, as);
    return sight.describe(await this.#records.read(sight.owners));
  }

  async list(pattern: string, options: ListOptions): Promise<Description[]> {
    const all = new Map<string, Sight>();
    for await (const { found } of this.walk(pattern, options, (key) => all.has(key))) {
      for (const [key, sight] of found) all.set(key, sight);
    }
    return withoutRateValues(await this.describe(all.values())).sort(byKey);
  }

  /**
   * Walks the whole key space page by page, looks at the keys as they are found, and answers what is listed. The reader
   * sets the pace: nothing is sent ahead.
   *
   * @param isKnown keys that need no look
   */
  async *walk(
    pattern: string,
    options: ListOptions,
    isKnown: (key: string) => boolean = () => false,
  ): AsyncIterable<Page> {
    for await (const page of this.#driver.scan(pattern)) {
      const unknown = page.filter((key) => !isKnown(key) && this.#isReadable(key));
      yield { scanned: page.length, found: await this.look(await this.#sift(unknown), options) };
    }
  }

  /** Looks at these keys, and answers those that are listed. */
  async look(keys: readonly string[], { counters = false }: ListOptions): Promise<Map<string, Sight>> {
    const describer = new Describer(this.#driver, this.#heldSince());
    const nobody = new KnownClients();
    const found = new Map<string, Sight>();
    for (let i = 0; i < keys.length; i += AT_ONCE) {
      const together = keys.slice(i, i + AT_ONCE);
      const sights = await Promise.all(together.map((key) => describer.look(key)));
      for (const [at, sight] of sights.entries()) {
        if (isListed(sight.describe(nobody), counters)) found.set(together[at] as string, sight);
      }
    }
    return found;
  }

  /** What was seen, in that order, with the clients that have a part in it. */
  async describe(seen: Iterable<Sight>): Promise<Description[]> {
    const sights = [...seen];
    const known = await this.#records.read(sights.flatMap(({ owners }) => owners));
    return sights.map((sight) => sight.describe(known));
  }

  /** Leaves out what is certainly something else: most keys of most servers. */
  async #sift(keys: readonly string[]): Promise<string[]> {
    const bySlot = new Map<number, string[]>();
    for (const key of keys) {
      const slot = this.#runtime.slotOf(key);
      const together = bySlot.get(slot);
      if (together === undefined) bySlot.set(slot, [key]);
      else together.push(key);
    }
    const calls: Promise<string[]>[] = [];
    for (const together of bySlot.values()) {
      for (let i = 0; i < together.length; i += AT_ONCE) {
        calls.push(this.#siftTogether(together.slice(i, i + AT_ONCE)));
      }
    }
    return (await Promise.all(calls)).flat();
  }

  async #siftTogether(found: readonly string[]): Promise<string[]> {
    const { positions } = await inspectSift.run(this.#driver, { found }, {});
    return positions.map((position) => found[position - 1] as string);
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
