/**
 * Locks as people look at them: who holds what, for how long. Reads only.
 */
import type { Driver } from '../drivers/driver.ts';
import { inspectDescribe } from '../scripts/generated.ts';

/** What stands under a name. */
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
  /** Something that is no lock; `type` is the server's word for it. */
  | { readonly key: string; readonly kind: 'other'; readonly type: string };

export async function describe(driver: Driver, key: string): Promise<Description> {
  const { status, ...rest } = await inspectDescribe.run(driver, { lock: key }, {});
  return { key, kind: status, ...rest } as Description;
}

/** Redisson's and our owner fields; other hashes and strings with an expiry are not taken for locks. */
const OWNER = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+$/;
const AT_ONCE = 100;

export async function list(driver: Driver, pattern: string): Promise<Description[]> {
  const keys = new Set<string>();
  for await (const key of driver.scan(pattern)) keys.add(key);
  const found: Description[] = [];
  const all = [...keys].sort();
  for (let i = 0; i < all.length; i += AT_ONCE) {
    const chunk = all.slice(i, i + AT_ONCE).map((key) => describe(driver, key));
    found.push(...(await Promise.all(chunk)));
  }
  return found.filter((it) => (it.kind === 'lock' || it.kind === 'simple') && OWNER.test(it.holder));
}
