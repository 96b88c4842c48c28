/** The kinds of locks that one owner at a time holds, in both languages. */
import type { Holdfast, Lock } from '../../../src/index.ts';
import { lockChannel, readWriteChannel, tokenKey } from '../../../src/keys.ts';
import { JavaLock, type JavaLockKind } from './java-objects.ts';
import type { JavaPeer } from './java-peer.ts';
import { PLAIN_AND_BRACED } from './names.ts';
import { habitsOf, type RedissonVersion } from './versions.ts';

export interface Kind {
  readonly title: string;
  readonly java: JavaLockKind;
  /** The versions of Redisson that have it. */
  readonly versions: readonly RedissonVersion[];
  readonly isReentrant: boolean;
  /** Where its releases are announced, or where that name starts; null when waiters ask again and again. */
  readonly channel: ((name: string) => string) | null;
  /** What outlives every hold, on purpose. */
  readonly keeps?: (name: string) => string;
  of(client: Holdfast, name: string): Lock;
}

const ALL: readonly RedissonVersion[] = ['4.7.0', '3.52.0', '3.17.7'];

const KINDS: readonly Kind[] = [
  {
    title: 'getLock',
    java: 'lock',
    versions: ALL,
    isReentrant: true,
    channel: lockChannel,
    of: (client, name) => client.getLock(name),
  },
  {
    title: 'getNonReentrantLock',
    java: 'nonReentrant',
    versions: ['4.7.0'],
    isReentrant: false,
    channel: lockChannel,
    of: (client, name) => client.getNonReentrantLock(name),
  },
  {
    title: 'getFairLock',
    java: 'fair',
    versions: ALL,
    isReentrant: true,
    channel: lockChannel,
    of: (client, name) => client.getFairLock(name),
  },
  {
    title: 'getNonReentrantFairLock',
    java: 'nonReentrantFair',
    versions: ['4.7.0'],
    isReentrant: false,
    channel: lockChannel,
    of: (client, name) => client.getNonReentrantFairLock(name),
  },
  {
    title: 'getSpinLock',
    java: 'spin',
    versions: ALL,
    isReentrant: true,
    channel: null,
    of: (client, name) => client.getSpinLock(name),
  },
  {
    title: 'getFencedLock',
    java: 'fenced',
    versions: ['4.7.0', '3.52.0'],
    isReentrant: true,
    channel: lockChannel,
    keeps: tokenKey,
    of: (client, name) => client.getFencedLock(name),
  },
  {
    title: 'writeLock',
    java: 'write',
    versions: ALL,
    isReentrant: true,
    channel: readWriteChannel,
    of: (client, name) => client.getReadWriteLock(name).writeLock(),
  },
];

/** Not a kind of its own: readers keep writers out, not one another. */
export const READ: Kind = {
  title: 'readLock',
  java: 'read',
  versions: ALL,
  isReentrant: true,
  channel: readWriteChannel,
  of: (client, name) => client.getReadWriteLock(name).readLock(),
};

/** Not a kind of its own either: two locks, whose names begin with the one it is given. */
export const MULTI: Kind = {
  title: 'getMultiLock',
  java: 'multi',
  versions: ALL,
  isReentrant: true,
  channel: (name) => lockChannel(firstOfMulti(name)),
  of: (client, name) => client.getMultiLock(...membersOfMulti(name).map((member) => client.getLock(member))),
};

function firstOfMulti(name: string): string {
  return `${name}:1`;
}

/** In the order of their names, in which both languages then take them. */
function membersOfMulti(name: string): string[] {
  return [firstOfMulti(name), `${name}:2`];
}

/** The keys that stand for a lock while it is held. */
export function keysHeldBy({ java }: Kind, name: string): readonly string[] {
  return java === MULTI.java ? membersOfMulti(name) : [name];
}

/** A lock of any kind in Java, also one that is made of several. */
export function javaLockOf(peer: JavaPeer, kind: Kind, name: string, thread?: string): JavaLock {
  return new JavaLock(peer, kind.java, keysHeldBy(kind, name), thread);
}

export const WRITE = kindOfJava('write');

/** The kind that the Java program calls so. */
export function kindOfJava(java: JavaLockKind): Kind {
  const found = [...KINDS, READ, MULTI].find((kind) => kind.java === java);
  if (found === undefined) throw new Error(`No kind called ${java}`);
  return found;
}

/** The kinds that a version of Redisson has, with their titles for `it.each`. */
export function kindsOf(version: RedissonVersion): [title: string, kind: Kind][] {
  return KINDS.filter(({ versions }) => versions.includes(version)).map((kind) => [kind.title, kind]);
}

/** The kinds that it has not. */
export function kindsMissingIn(version: RedissonVersion): [title: string, kind: Kind][] {
  return KINDS.filter(({ versions }) => !versions.includes(version)).map((kind) => [kind.title, kind]);
}

/** The kinds whose Java waiters notice by themselves that the holder's time is over. */
export function kindsThatNoticeTheEnd(version: RedissonVersion): readonly Kind[] {
  const { fairWaitersMayMissTheEnd } = habitsOf(version);
  const kinds = kindsOf(version).map(([, kind]) => kind);
  return kinds.filter(({ java }) => java !== 'fair' || !fairWaitersMayMissTheEnd);
}

/** Plain names and names with braces in turns, so that a test over many meets both in the time of one. */
export function nameMakerAt(index: number): () => string {
  const [, makeName] = PLAIN_AND_BRACED[index % PLAIN_AND_BRACED.length] as (typeof PLAIN_AND_BRACED)[number];
  return makeName;
}

/**
 * A test that takes real time, run for every kind at once instead of one after the other. Every other kind has names
 * with braces. A failure says of which kind it is.
 */
export async function forEachOf(
  kinds: readonly Kind[],
  test: (kind: Kind, makeName: () => string) => Promise<void>,
): Promise<void> {
  const results = await Promise.allSettled(kinds.map((kind, index) => test(kind, nameMakerAt(index))));
  for (const [index, result] of results.entries()) {
    if (result.status === 'fulfilled') continue;
    const { reason } = result;
    if (reason instanceof Error) reason.message = `${kinds[index]?.title}: ${reason.message}`;
    throw reason;
  }
}
