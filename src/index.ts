/**
 * The public surface, and the only file that re-exports.
 */
export { Holdfast } from './client.ts';
export type { ClientOptions, LockKindOptions } from './client-options.ts';
export type {
  ClusterTarget,
  FixedTarget,
  NatMap,
  NodeAddress,
  SentinelTarget,
  ServerTarget,
} from './drivers/address.ts';
export type { Topology } from './drivers/driver.ts';
export * from './errors.ts';
export { MemoryGuard } from './guards/memory-guard.ts';
export { type SqlGuard, sqlGuard } from './guards/sql-guard.ts';
export type { Capabilities } from './inspect/capabilities.ts';
export type { Health, Problem } from './inspect/health.ts';
export type { Description } from './inspect/locks.ts';
export type { Persistence } from './inspect/server.ts';
export type { AwaitOptions, CountDownLatch } from './primitives/count-down-latch.ts';
export type { FencedHold, FencedLock, FencedLockOptions } from './primitives/fenced-lock.ts';
export type { FencedRegister } from './primitives/fenced-register.ts';
export type { Hold } from './primitives/hold.ts';
export type { Lock, LockOptions, OwnerOption, TryLockOptions, WithLockOptions } from './primitives/lock.ts';
export type { Permit } from './primitives/permit.ts';
export type {
  PermitExpirableSemaphore,
  PermitOptions,
  TryPermitOptions,
} from './primitives/permit-semaphore.ts';
export type { RateConfig, RateLimiter, RateOptions } from './primitives/rate-limiter.ts';
export type { ReadWriteLock, ReadWriteLockOptions } from './primitives/read-write-lock.ts';
export type {
  AcquireOptions,
  Semaphore,
  TryAcquireOptions,
  WithPermitOptions,
} from './primitives/semaphore.ts';
export type { Backoff } from './primitives/spin-lock.ts';
export type {
  WebLock,
  WebLockInfo,
  WebLockMode,
  WebLockOptions,
  WebLockSnapshot,
  WebLocks,
} from './primitives/web-locks.ts';
export type { ClientEvents, WarningCode } from './runtime/events.ts';
export type { Owner } from './runtime/owner.ts';
export type { Target } from './target.ts';
export type { Diagnostic } from './telemetry/channels.ts';
export type { Listener } from './telemetry/listeners.ts';
