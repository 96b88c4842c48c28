/**
 * Everyone who takes part, in the order in which they are measured: those who are compared most closely side by side.
 */
import { bareIoredis, bareNodeRedis } from './bare-pair.ts';
import type { Contestant } from './contestant.ts';
import { handWritten } from './hand-written.ts';
import { holdfastOnIoredis, holdfastOnNodeRedis, holdfastVariants } from './holdfast.ts';
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

/** All that can wait for a lock that is taken. */
export const LOCKS: readonly Contestant[] = [
  holdfastOnIoredis,
  holdfastOnNodeRedis,
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

/** Where nobody waits. */
export const ALL: readonly Contestant[] = [...PAIRS, ...LOCKS];

/** holdfast's other primitives beside its lock. */
export const PRIMITIVES: readonly Contestant[] = [holdfastOnIoredis, ...holdfastVariants];

export function contestantById(id: string): Contestant {
  const found = [...ALL, ...PRIMITIVES].find((contestant) => contestant.id === id);
  if (found === undefined) throw new Error(`There is no contestant ${id}`);
  return found;
}
