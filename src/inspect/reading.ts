/**
 * Descriptions for people and tools that show many of them alike: who holds and who waits, whatever the kind, and the
 * form in which they travel as JSON.
 */
import type { Description, HolderInfo, OwnerInfo, PermitInfo } from './description.ts';

/** The owners that hold it; none for what has no owners. */
export function holdersOf(found: Description): readonly HolderInfo[] {
  return 'holders' in found ? found.holders : [];
}

/** The waiters that Redis knows of: only a fair lock keeps them there. */
export function waitersOf(found: Description): readonly OwnerInfo[] {
  return 'waiters' in found ? found.waiters : [];
}

/** The taken permits that have leases. */
export function permitsOf(found: Description): readonly PermitInfo[] {
  return 'permits' in found ? found.permits : [];
}

/** Until the last of its leases ends; `Infinity` without an expiry, null where nothing is held. */
export function leaseLeftMs(found: Description): number | null {
  const left = [...holdersOf(found), ...permitsOf(found)].map(({ remainingMs }) => remainingMs);
  return left.length === 0 ? null : Math.max(...left);
}

/** The name of an owner that people know: its label, or else its field. */
export function labelOf({ client, owner }: OwnerInfo): string {
  return client?.label ?? owner;
}

/** The description for `JSON.stringify`: a lease without an expiry is null, a time is ISO 8601. */
export function plain(found: Description): object {
  return JSON.parse(JSON.stringify(found));
}
