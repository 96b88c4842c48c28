/**
 * Everyone who takes part, in the order in which they are measured: those who are compared most closely side by side.
 */
import { bareIoredis, bareNodeRedis } from './bare-pair.ts';
import type { Contestant } from './contestant.ts';
import { handWritten } from './hand-written.ts';
import {
  holdfastOnIoredis,
  holdfastOnNodeRedis,
  holdfastVariants,
  holdfastWithoutPassOn,
} from './holdfast.ts';
import { ioredisLock } from './ioredis-lock.ts';
import { nodeRedisson } from './node-redisson.ts';
import { redisSemaphore } from './redis-semaphore.ts';
import { redisson } from './redisson.ts';
import { redlock4 } from './redlock-4.ts';
import { redlock5, sesamecareRedlock } from './redlock-5.ts';
import { redlockUniversal } from './redlock-universal.ts';
import { semanticPair } from './semantic-pair.ts';
import { simpleRedisMutex } from './simple-redis-mutex.ts';

/** Commands without a lock around them: they cannot wait. */
const PAIRS = [bareIoredis, semanticPair, bareNodeRedis];

const HOLDFAST = [holdfastOnIoredis, holdfastOnNodeRedis];

const OTHERS = [
  handWritten,
  redlock4,
  redlock5,
  sesamecareRedlock,
  redisSemaphore,
  ioredisLock,
  nodeRedisson,
  simpleRedisMutex,
  redlockUniversal,
  redisson,
];

/** All that can wait for a lock that is taken. */
export const LOCKS: readonly Contestant[] = [...HOLDFAST, ...OTHERS];

/** Where tasks of one process wait for each other, so that it makes a difference whether a lock is passed on. */
export const QUEUED: readonly Contestant[] = [...HOLDFAST, holdfastWithoutPassOn, ...OTHERS];

/** Where nobody waits. */
export const ALL: readonly Contestant[] = [...PAIRS, ...LOCKS];

/** holdfast's other primitives beside its lock. */
export const PRIMITIVES: readonly Contestant[] = [holdfastOnIoredis, ...holdfastVariants];

/** Each of them once. */
export const CONTESTANTS: ReadonlySet<Contestant> = new Set([...ALL, ...QUEUED, ...PRIMITIVES]);

export function contestantById(id: string): Contestant {
  const found = [...CONTESTANTS].find((contestant) => contestant.id === id);
  if (found === undefined) throw new Error(`There is no contestant ${id}`);
  return found;
}
