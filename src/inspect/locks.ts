/**
 * Describes locks for people: the holders and their remaining leases. Reads only.
 */
import type { Driver } from '../drivers/driver.ts';
import { inspectDescribe } from '../scripts/generated.ts';

/** A holder of a read/write lock, and its hold count. */
interface Holder {
  readonly holder: string;
  readonly holdCount: number;
}

/** The state of a key. */
export type Description =
  | { readonly key: string; readonly kind: 'free' }
  | {
      readonly key: string;
      readonly kind: 'lock';
      readonly holder: string;
      readonly holdCount: number;
      readonly remainingMs: number;
    }
  | { readonly key: string; readonly kind: 'simple'; readonly holder: string; readonly remainingMs: number }
  | {
      readonly key: string;
      readonly kind: 'readWrite';
      /** `write`: the field that ends in `:write` is the writer; any other field is the same owner, reading as well. */
      readonly mode: 'read' | 'write';
      readonly holders: readonly Holder[];
      /** Of the longest lease; some holders may expire earlier. */
      readonly remainingMs: number;
    }
  /** A key that is not a lock; `type` is its Redis type. */
  | { readonly key: string; readonly kind: 'other'; readonly type: string };

export async function describe(driver: Driver, key: string): Promise<Description> {
  const reply = await inspectDescribe.run(driver, { lock: key }, {});
  const { status, ...rest } =
    reply.status === 'readWrite' ? { ...reply, holders: pairs(reply.holders) } : reply;
  return { key, kind: status, ...rest } as Description;
}

/** Fields and counts alternate. */
function pairs(flat: readonly string[]): Holder[] {
  const holders: Holder[] = [];
  for (let i = 0; i < flat.length; i += 2)
    holders.push({ holder: flat[i] ?? '', holdCount: Number(flat[i + 1]) });
  return holders;
}

/**
 * Owner fields of Redisson and holdfast. Other hashes and other strings with an expiry do not count as locks: the
 * permits of a rate limiter are such a string too.
 */
const OWNER = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+(:write)?$/;
const AT_ONCE = 100;

function isLock(found: Description): boolean {
  if (found.kind === 'readWrite') return found.holders.every(({ holder }) => OWNER.test(holder));
  return (found.kind === 'lock' || found.kind === 'simple') && OWNER.test(found.holder);
}

export async function list(driver: Driver, pattern: string): Promise<Description[]> {
  const keys = new Set<string>();
  for await (const key of driver.scan(pattern)) keys.add(key);
  const found: Description[] = [];
  const all = [...keys].sort();
  for (let i = 0; i < all.length; i += AT_ONCE) {
    const chunk = all.slice(i, i + AT_ONCE).map((key) => describe(driver, key));
    found.push(...(await Promise.all(chunk)));
  }
  return found.filter(isLock);
}
