/**
 * Redisson's objects as tests see them. Each speaks through a thread of its own unless it is told otherwise, so
 * that each is an owner of its own.
 */
import type { JavaOrder, JavaPeer } from './java-peer.ts';

/** Redisson's kinds of locks, as the Java program calls them. */
export type JavaLockKind =
  | 'lock'
  | 'nonReentrant'
  | 'fair'
  | 'nonReentrantFair'
  | 'spin'
  | 'fenced'
  | 'read'
  | 'write'
  | 'multi';

type Details = Omit<JavaOrder, 'thread' | 'kind' | 'name' | 'names' | 'op'>;

class JavaObject {
  readonly thread: string;
  readonly #peer: JavaPeer;
  readonly #kind: string;
  readonly #names: readonly string[];

  constructor(peer: JavaPeer, kind: string, names: readonly string[], thread = peer.newThread()) {
    this.#peer = peer;
    this.#kind = kind;
    this.#names = names;
    this.thread = thread;
  }

  /** Resolves when what was asked for last has made its thread sleep. */
  untilAsleep(): Promise<void> {
    return this.#peer.untilAsleep(this.thread);
  }

  protected order<T = true>(op: string, details: Details = {}): Promise<T> {
    const [name] = this.#names as [string];
    return this.#peer.order<T>({
      thread: this.thread,
      kind: this.#kind,
      name,
      names: this.#names,
      op,
      ...details,
    });
  }
}

interface Lease {
  readonly leaseMs?: number;
}

interface Wait extends Lease {
  readonly waitMs?: number;
}

export class JavaLock extends JavaObject {
  lock(lease: Lease = {}): Promise<true> {
    return this.order('lock', lease);
  }

  tryLock(options: Wait = {}): Promise<boolean> {
    return this.order('tryLock', options);
  }

  unlock(): Promise<true> {
    return this.order('unlock');
  }

  forceUnlock(): Promise<boolean> {
    return this.order('forceUnlock');
  }

  isLocked(): Promise<boolean> {
    return this.order('isLocked');
  }

  holdCount(): Promise<number> {
    return this.order('holdCount');
  }

  remainingMs(): Promise<number> {
    return this.order('remainingMs');
  }

  /** Storms for some time, and answers how often it was inside. */
  storm(waitMs: number): Promise<number> {
    return this.order('storm', { waitMs });
  }
}

export class JavaFencedLock extends JavaLock {
  lockToken(): Promise<number> {
    return this.order('lockToken');
  }

  tryLockToken(options: Wait): Promise<number | null> {
    return this.order('tryLockToken', options);
  }

  token(): Promise<number> {
    return this.order('token');
  }
}

export class JavaSemaphore extends JavaObject {
  trySetPermits(count: number): Promise<boolean> {
    return this.order('trySetPermits', { count });
  }

  acquire(count = 1): Promise<true> {
    return this.order('acquire', { count });
  }

  tryAcquire(count = 1, waitMs = 0): Promise<boolean> {
    return this.order('tryAcquire', { count, waitMs });
  }

  release(count = 1): Promise<true> {
    return this.order('release', { count });
  }

  releaseIfExists(count = 1): Promise<boolean> {
    return this.order('releaseIfExists', { count });
  }

  addPermits(count: number): Promise<true> {
    return this.order('addPermits', { count });
  }

  drainPermits(): Promise<number> {
    return this.order('drainPermits');
  }

  available(): Promise<number> {
    return this.order('available');
  }
}

/** Whoever acquires is answered with ids, none when there was no permit to be had. */
export class JavaPermits extends JavaObject {
  trySetPermits(count: number): Promise<boolean> {
    return this.order('trySetPermits', { count });
  }

  setPermits(count: number): Promise<true> {
    return this.order('setPermits', { count });
  }

  addPermits(count: number): Promise<true> {
    return this.order('addPermits', { count });
  }

  acquire(lease: Lease = {}, count = 1): Promise<[string, ...string[]]> {
    return this.order('acquire', { count, ...lease });
  }

  tryAcquire(options: Wait = {}, count = 1): Promise<string[]> {
    return this.order('tryAcquire', { count, ...options });
  }

  release(id: string): Promise<true> {
    return this.order('release', { ids: [id] });
  }

  tryRelease(id: string): Promise<boolean> {
    return this.order('tryRelease', { ids: [id] });
  }

  tryReleaseAll(ids: readonly string[]): Promise<number> {
    return this.order('tryReleaseAll', { ids });
  }

  updateLease(id: string, leaseMs: number): Promise<boolean> {
    return this.order('updateLease', { ids: [id], leaseMs });
  }

  leaseMs(id: string): Promise<number> {
    return this.order('leaseMs', { ids: [id] });
  }

  available(): Promise<number> {
    return this.order('available');
  }

  acquired(): Promise<number> {
    return this.order('acquired');
  }

  permits(): Promise<number> {
    return this.order('permits');
  }
}

export class JavaLatch extends JavaObject {
  trySetCount(count: number): Promise<boolean> {
    return this.order('trySetCount', { count });
  }

  countDown(): Promise<true> {
    return this.order('countDown');
  }

  getCount(): Promise<number> {
    return this.order('getCount');
  }

  await(wait: { readonly waitMs?: number } = {}): Promise<boolean> {
    return this.order('await', wait);
  }

  delete(): Promise<boolean> {
    return this.order('delete');
  }
}

export class JavaRateLimiter extends JavaObject {
  trySetRate(mode: 'OVERALL' | 'PER_CLIENT', count: number, intervalMs: number): Promise<boolean> {
    return this.order('trySetRate', { mode, count, intervalMs });
  }

  acquire(count = 1): Promise<true> {
    return this.order('acquire', { count });
  }

  tryAcquire(count = 1, wait: { readonly waitMs?: number } = {}): Promise<boolean> {
    return this.order('tryAcquire', { count, ...wait });
  }

  release(count: number): Promise<true> {
    return this.order('release', { count });
  }

  available(): Promise<number> {
    return this.order('available');
  }

  /** Its mode, its rate and its interval in milliseconds. */
  config(): Promise<[string, number, number]> {
    return this.order('config');
  }
}

/** The field that stands for a thread in the hash of a lock. */
export function javaOwner(peer: JavaPeer, thread: string): Promise<string> {
  return peer.order({ thread, kind: 'owner', op: 'describe' });
}

export function javaLock(peer: JavaPeer, kind: JavaLockKind, name: string, thread?: string): JavaLock {
  return new JavaLock(peer, kind, [name], thread);
}

/** Several locks taken as one. */
export function javaMultiLock(peer: JavaPeer, names: readonly string[]): JavaLock {
  return new JavaLock(peer, 'multi', names);
}
