/** Every kind of lock that is not made of other locks. */
import type { Holdfast, Lock, PrimitiveKind } from '../../../src/index.ts';

export interface Kind {
  readonly kind: PrimitiveKind;
  readonly of: (client: Holdfast, name: string) => Lock;
  /** Another side of the lock that keeps this one out, where it does not keep itself out. */
  readonly against?: (client: Holdfast, name: string) => Lock;
}

export const KINDS: readonly Kind[] = [
  { kind: 'lock', of: (client, name) => client.getLock(name) },
  { kind: 'nonReentrant', of: (client, name) => client.getNonReentrantLock(name) },
  { kind: 'fair', of: (client, name) => client.getFairLock(name) },
  { kind: 'fenced', of: (client, name) => client.getFencedLock(name) },
  { kind: 'spin', of: (client, name) => client.getSpinLock(name) },
  { kind: 'simple', of: (client, name) => client.getSimpleLock(name) },
  { kind: 'write', of: (client, name) => client.getReadWriteLock(name).writeLock() },
  {
    kind: 'read',
    of: (client, name) => client.getReadWriteLock(name).readLock(),
    against: (client, name) => client.getReadWriteLock(name).writeLock(),
  },
];
