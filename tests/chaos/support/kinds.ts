/**
 * The kinds of locks the faults are tried on, and how each looks on the server.
 */
import type { Holdfast, Lock, PrimitiveKind } from '../../../src/index.ts';
import * as scripts from '../../../src/scripts/generated.ts';
import type { TestServer } from '../../../src/testing/index.ts';
import { runs } from './requests.ts';

export interface Kind {
  readonly title: 'getLock' | 'getNonReentrantLock' | 'getSpinLock' | 'getFencedLock' | 'getSimpleLock';
  readonly kind: PrimitiveKind;
  get(client: Holdfast, name: string): Lock;
  /** The owner that the server has under the name, or null. */
  holderOn(server: TestServer, name: string): Promise<string | null>;
  /** The count that the server has, or null where the layout has none. */
  countOn(server: TestServer, name: string): Promise<number | null>;
  /** What outlives every hold, on purpose. */
  readonly keeps?: (name: string) => string;
  /** What the proxy sees of each step. */
  readonly requests: {
    readonly acquire: string;
    readonly enter: string;
    readonly leave: string;
    readonly renew: string;
    readonly release: string;
    readonly forceRelease: string;
  };
}

async function fieldsOn(server: TestServer, name: string): Promise<string[]> {
  return (await server.command('HGETALL', name)) as string[];
}

const hash: Pick<Kind, 'holderOn' | 'countOn' | 'requests'> = {
  holderOn: async (server, name) => (await fieldsOn(server, name))[0] ?? null,
  countOn: async (server, name) => Number((await fieldsOn(server, name))[1]),
  requests: {
    acquire: runs(scripts.lockAcquire),
    enter: runs(scripts.lockEnter),
    leave: runs(scripts.lockLeave),
    renew: runs(scripts.lockRenew),
    release: runs(scripts.lockRelease),
    forceRelease: runs(scripts.lockForceRelease),
  },
};

export const LOCK: Kind = {
  title: 'getLock',
  kind: 'lock',
  get: (client, name) => client.getLock(name),
  ...hash,
};

const NON_REENTRANT: Kind = {
  title: 'getNonReentrantLock',
  kind: 'nonReentrant',
  get: (client, name) => client.getNonReentrantLock(name),
  ...hash,
};

const SPIN: Kind = {
  title: 'getSpinLock',
  kind: 'spin',
  get: (client, name) => client.getSpinLock(name),
  ...hash,
};

const FENCED: Kind = {
  ...hash,
  title: 'getFencedLock',
  kind: 'fenced',
  get: (client, name) => client.getFencedLock(name),
  keeps: (name) => `redisson_lock_token:{${name}}`,
  requests: { ...hash.requests, acquire: runs(scripts.fencedLockAcquire) },
};

const SIMPLE: Kind = {
  title: 'getSimpleLock',
  kind: 'simple',
  get: (client, name) => client.getSimpleLock(name),
  holderOn: async (server, name) => (await server.command('GET', name)) as string | null,
  countOn: async () => null,
  requests: {
    acquire: runs(scripts.simpleLockAcquire),
    // Entries are counted in the process; on the wire one makes sure that the token is there.
    enter: runs(scripts.simpleLockRenew),
    leave: runs(scripts.simpleLockDescribe),
    renew: runs(scripts.simpleLockRenew),
    release: runs(scripts.simpleLockRelease),
    forceRelease: runs(scripts.simpleLockForceRelease),
  },
};

export const KINDS: readonly Kind[] = [LOCK, SPIN, FENCED, SIMPLE];
/** The layouts on the server, where the way of waiting makes no difference. */
export const LAYOUTS: readonly Kind[] = [LOCK, SIMPLE];
/** Those that a release hands to the next waiter of its process. */
export const PASSED_ON: readonly Kind[] = [LOCK, NON_REENTRANT, SIMPLE];

export function kindCalled(title: string): Kind {
  const found = [...KINDS, NON_REENTRANT].find((kind) => kind.title === title);
  if (found === undefined) throw new Error(`No kind called ${title}`);
  return found;
}

/** Makes the server know every script, so that each step is one request. */
export async function loadScripts(server: TestServer): Promise<void> {
  for (const script of Object.values(scripts)) await server.command('SCRIPT', 'LOAD', script.source);
}
