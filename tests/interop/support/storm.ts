/**
 * One task's part in a storm: enters a lock again and again and leaves traces inside, from which a test can tell
 * whether it was alone there. The Java side does the same, see `Storm.java`.
 */
import type { Cluster, Redis } from 'ioredis';
import type { FencedHold, Hold, Holdfast, Lock, LockOptions } from '../../../src/index.ts';
import { fairQueueKey } from '../../../src/keys.ts';
import type { JavaLockKind } from './java-objects.ts';
import { kindOfJava } from './kinds.ts';

/** What storms: a kind of lock, and the names of the locks. All but the multi lock have one. */
export interface StormSettings {
  readonly kind: JavaLockKind;
  readonly names: readonly [string, ...string[]];
  readonly runMs: number;
  /** Holds of Node processes have no lease of their own, so that a release hands them to the next task. */
  readonly isPassedOn?: boolean;
}

/** Where the traces are left, apart from the clients whose locks are tried. */
export type TraceServer = Redis | Cluster;

/** The keys of the traces of a storm. */
export function tracesOf(name: string) {
  return {
    /** Raised by one by everybody inside. */
    counter: `counter:${name}`,
    /** Who stood at the head of the queue when the last holder of a fair lock left. */
    successor: `successor:${name}`,
    /** How often somebody came in who was expected. */
    followed: `followed:${name}`,
    /** The fencing tokens, in the order of the holds. */
    tokens: `tokens:${name}`,
    /** Whatever was seen that must not happen. */
    overtaken: `overtaken:${name}`,
  };
}

/** Longer than a storm may take: who is slow has not lost the lock, and whoever has lost it was robbed. */
export const LEASE_MS = 300_000;

/**
 * Storms until the time is over, and answers how often it was inside. Who writes also reads in between.
 *
 * @param fields collects the owner fields of its holds: those that were passed on share one
 * @param endsAt by `performance.now()`, the same for all tasks of a process: one that ends later has nobody behind it
 */
export async function storm(
  client: Holdfast,
  redis: TraceServer,
  settings: StormSettings,
  fields: Set<string>,
  endsAt: number,
): Promise<number> {
  const { kind, names, isPassedOn = false } = settings;
  const options = isPassedOn ? {} : { leaseMs: LEASE_MS };
  const lock = lockOf(client, settings);
  const reader = client.getReadWriteLock(names[0]).readLock();
  let entries = 0;
  while (performance.now() < endsAt) {
    if (kind === 'write') await inside(reader, options, () => lookTwice(redis, names[0]));
    await inside(lock, options, (hold) => {
      fields.add(hold.owner);
      return leaveTraces(redis, settings, hold);
    });
    entries += 1;
  }
  return entries;
}

function lockOf(client: Holdfast, { kind, names }: StormSettings): Lock {
  if (kind === 'multi') return client.getMultiLock(...names.map((name) => client.getLock(name)));
  return kindOfJava(kind).of(client, names[0]);
}

async function inside(lock: Lock, options: LockOptions, act: (hold: Hold) => Promise<void>): Promise<void> {
  const hold = await lock.lock(options);
  let wasHeld: boolean;
  try {
    await act(hold);
  } finally {
    wasHeld = await hold.unlock();
  }
  if (!wasHeld) throw new Error(`${hold.owner} had lost the lock when it left`);
}

async function leaveTraces(redis: TraceServer, { kind, names }: StormSettings, hold: Hold): Promise<void> {
  const [name] = names;
  const { counter, tokens } = tracesOf(name);
  const before = await redis.get(counter);
  if (kind === 'fair' || kind === 'nonReentrantFair') await keepOrder(redis, name, hold.owner);
  if (kind === 'fenced') await redis.rpush(tokens, (hold as FencedHold).token);
  // Read and written apart: only the lock keeps others from coming between.
  await redis.set(counter, Number(before) + 1);
}

/** No writer may come in while somebody reads. */
async function lookTwice(redis: TraceServer, name: string): Promise<void> {
  const { counter, overtaken } = tracesOf(name);
  const before = await redis.get(counter);
  const after = await redis.get(counter);
  if (after !== before) await redis.rpush(overtaken, `${before} became ${after}`);
}

/** Whoever was at the head of the queue under the last holder must be the next. */
async function keepOrder(redis: TraceServer, name: string, owner: string): Promise<void> {
  const { successor, followed, overtaken } = tracesOf(name);
  const expected = await redis.get(successor);
  if (expected === owner) await redis.incr(followed);
  else if (expected !== null) await redis.rpush(overtaken, `${expected} by ${owner}`);
  const next = await redis.lindex(fairQueueKey(name), 0);
  if (next === null) await redis.del(successor);
  else await redis.set(successor, next);
}
