/**
 * The kinds of locks that share one interface, and what tests must know to look at them from outside.
 */
import type { Holdfast, Lock, PrimitiveKind } from '../../../src/index.ts';
import type { RawView } from '../../harness/cluster-connection.ts';

export interface Kind {
  readonly title: string;
  readonly kind: PrimitiveKind;
  readonly isReentrant: boolean;
  /** Whether its waiters subscribe to wake-ups; the others ask again and again. */
  readonly listens: boolean;
  /** How it is laid out in Redis: an owner field with a count, or the owner as a plain string. */
  readonly layout: 'hash' | 'string';
  /** What outlives every hold, on purpose. */
  readonly keeps?: (name: string) => string;
  of(client: Holdfast, name: string): Lock;
}

export const REENTRANT: Kind = {
  title: 'getLock',
  kind: 'lock',
  isReentrant: true,
  listens: true,
  layout: 'hash',
  of: (client, name) => client.getLock(name),
};

export const NON_REENTRANT: Kind = {
  title: 'getNonReentrantLock',
  kind: 'nonReentrant',
  isReentrant: false,
  listens: true,
  layout: 'hash',
  of: (client, name) => client.getNonReentrantLock(name),
};

const SPIN: Kind = {
  title: 'getSpinLock, exponential',
  kind: 'spin',
  isReentrant: true,
  listens: false,
  layout: 'hash',
  of: (client, name) => client.getSpinLock(name),
};

const CONSTANT_SPIN: Kind = {
  ...SPIN,
  title: 'getSpinLock, constant',
  of: (client, name) => client.getSpinLock(name, { backoff: { kind: 'constant', delayMs: 20 } }),
};

export const SIMPLE: Kind = {
  title: 'getSimpleLock',
  kind: 'simple',
  isReentrant: true,
  listens: true,
  layout: 'string',
  of: (client, name) => client.getSimpleLock(name),
};

const FENCED: Kind = {
  ...REENTRANT,
  title: 'getFencedLock',
  kind: 'fenced',
  keeps: (name) => `redisson_lock_token:{${name}}`,
  of: (client, name) => client.getFencedLock(name),
};

export const KINDS: readonly Kind[] = [REENTRANT, NON_REENTRANT, SPIN, CONSTANT_SPIN, FENCED, SIMPLE];
export const REENTRANT_KINDS = KINDS.filter((kind) => kind.isReentrant);
export const SPINNING_KINDS = KINDS.filter((kind) => !kind.listens);

/** Who holds the lock according to Redis itself, and how often it entered; null when nobody does. */
export async function holderOf(
  raw: RawView,
  { layout }: Kind,
  key: string,
): Promise<{ owner: string; count: number } | null> {
  if (layout === 'string') {
    const owner = await raw.command('GET', key);
    return owner === null ? null : { owner: String(owner), count: 1 };
  }
  const [owner, count, ...more] = (await raw.command('HGETALL', key)) as string[];
  if (more.length > 0) throw new Error(`more than one field in ${key}`);
  return owner === undefined ? null : { owner, count: Number(count) };
}

/** What a kind without a count in Redis can show of it: there it is always 1. */
export function countInRedis({ layout }: Kind, entries: number): number {
  return layout === 'string' ? 1 : entries;
}

/**
 * A test that takes real time, run for every kind at once instead of one after the other. A failure says of
 * which kind it is.
 */
export function forEach(kinds: readonly Kind[], test: (kind: Kind) => Promise<void>): () => Promise<void> {
  return async () => {
    const results = await Promise.allSettled(kinds.map(test));
    for (const [i, result] of results.entries()) {
      if (result.status === 'fulfilled') continue;
      const { reason } = result;
      if (reason instanceof Error) reason.message = `${kinds[i]?.title}: ${reason.message}`;
      throw reason;
    }
  };
}
