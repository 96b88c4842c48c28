/**
 * The public surface, and the only file that re-exports.
 *
 * @module holdfast
 */
export type {
  AcquireMessage,
  EventMessage,
  HoldMessage,
  ReleaseMessage,
  RenewMessage,
  Subject,
  WakeMessage,
} from './channels.ts';
export { Holdfast } from './client.ts';
export type { AcquireOptions, TryAcquireOptions } from './counters/acquire-methods.ts';
export type { AwaitOptions, CountDownLatch } from './counters/count-down-latch.ts';
export type {
  Permit,
  PermitOptions,
  TryPermitOptions,
  WithExpirablePermitOptions,
} from './counters/expirable-permit.ts';
export type { PermitExpirableSemaphore } from './counters/permit-semaphore.ts';
export type { RateConfig, RateLimiter, RateOptions, RateTaken } from './counters/rate-limiter.ts';
export type { Semaphore, WithPermitOptions } from './counters/semaphore.ts';
export type { SetPermitsOptions } from './counters/semaphore-counter.ts';
export type { SemaphoreOptions } from './counters/semaphore-creation.ts';
export type {
  ClusterTarget,
  FixedTarget,
  NatMap,
  NodeAddress,
  SentinelTarget,
  ServerTarget,
} from './drivers/address.ts';
export type { RedisClient } from './drivers/detect.ts';
export type { Topology } from './drivers/driver.ts';
export * from './errors.ts';
export type { ClientEvents, Lasted, PrimitiveKind, WarningCode } from './events.ts';
export type { FencedRegister } from './fencing/fenced-register.ts';
export { MemoryFence } from './fencing/memory-fence.ts';
export { type SqlFence, sqlFence } from './fencing/sql-fence.ts';
export type * from './inspect/description.ts';
export type { FencedHold, FencedLock, FencedLockOptions } from './locks/fenced-lock.ts';
export type { Hold } from './locks/hold.ts';
export type { Lock, LockOptions, OwnerOption, TryLockOptions, WithLockOptions } from './locks/lock.ts';
export type { ReadWriteLock, ReadWriteLockOptions } from './locks/read-write-lock.ts';
export type { Backoff, SpinLockOptions } from './locks/spin-lock.ts';
export type {
  WebLock,
  WebLockInfo,
  WebLockMode,
  WebLockOptions,
  WebLockSnapshot,
  WebLocks,
} from './locks/web-locks.ts';
export type { ClientOptions, CloseOptions, LockKindOptions } from './options/client-options.ts';
export type { Target } from './options/target.ts';
export type { Capabilities } from './preflight/capabilities.ts';
export type { Health, Problem } from './preflight/health.ts';
export type { Persistence } from './preflight/server-facts.ts';
export type { Owner } from './runtime/owner.ts';
export type { Listener } from './telemetry/listeners.ts';
