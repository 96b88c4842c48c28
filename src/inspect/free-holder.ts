/**
 * Frees one holder that a person has seen, and no other: minutes may pass between the look and the decision, and the
 * lock may belong to another owner by then.
 */
import { forceUnlock } from '../locks/force-unlock.ts';
import type { Lock } from '../locks/lock.ts';
import { isProtocolLock } from '../locks/protocol-lock.ts';
import type { Description } from './description.ts';
import { holdersOf, permitsOf } from './reading.ts';

/** What this needs of a client. */
export interface HolderSource {
  inspect(name: string): Promise<Description>;
  getLock(name: string): Lock;
  getFairLock(name: string): Lock;
  getFencedLock(name: string): Lock;
  getSimpleLock(name: string): Lock;
  getReadWriteLock(name: string): { readLock(): Lock; writeLock(): Lock };
  getPermitExpirableSemaphore(name: string): { tryRelease(id: string): Promise<boolean> };
}

const WRITER = /:write$/;

/** A writer that also reads has two fields, which only make sense together. */
function ownerOf(field: string): string {
  return field.replace(WRITER, '');
}

/** Undefined for what has no owners. */
function lockOf(client: HolderSource, name: string, found: Description): Lock | undefined {
  switch (found.kind) {
    case 'lock':
      return client.getLock(name);
    case 'fair':
      return client.getFairLock(name);
    case 'fenced':
      return client.getFencedLock(name);
    case 'simple':
      return client.getSimpleLock(name);
    case 'readWrite': {
      const both = client.getReadWriteLock(name);
      return found.mode === 'write' ? both.writeLock() : both.readLock();
    }
    default:
      return undefined;
  }
}

/**
 * Ends the hold of this owner, or gives back the permit with this id. The owner is told as with `forceUnlock`.
 *
 * @param owner an owner field or a permit id, as `inspect` showed it
 * @returns false if it holds nothing there any more; whoever holds the lock instead keeps it
 */
export async function freeHolder(client: HolderSource, name: string, owner: string): Promise<boolean> {
  // The layout may have changed since: a fair lock has a queue only while owners wait.
  const found = await client.inspect(name);
  if (permitsOf(found).some(({ id }) => id === owner)) {
    return client.getPermitExpirableSemaphore(name).tryRelease(owner);
  }
  if (!holdersOf(found).some((holder) => holder.owner === owner)) return false;
  const lock = lockOf(client, name, found);
  if (!isProtocolLock(lock)) return false;
  const isMeant = (field: string) => ownerOf(field) === ownerOf(owner);
  return forceUnlock(lock.context, lock.protocol, isMeant);
}
