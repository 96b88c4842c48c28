/**
 * The public surface, and the only file that re-exports.
 */
export { type ClientOptions, Holdfast, type Target } from './client.ts';
export * from './errors.ts';
export type { Description } from './inspect/locks.ts';
export type { Capabilities } from './inspect/server.ts';
export type { Hold } from './primitives/hold.ts';
export type { Lock, LockOptions, OwnerOption, TryLockOptions, WithLockOptions } from './primitives/lock.ts';
export type { Backoff } from './primitives/spin-lock.ts';
export type { ClientEvents, WarningCode } from './runtime/events.ts';
export type { Owner } from './runtime/owner.ts';
export type { Diagnostic } from './telemetry/channels.ts';
