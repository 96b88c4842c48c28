/**
 * Name → keys and channels. No other file builds a key.
 *
 * The templates are Redisson's, so that Java clients use the same keys. The braces are hash tags: they keep
 * related keys in one slot of a Cluster. Redisson only looks for an opening brace, and so do we.
 */
import { hashTag } from './slots.ts';

/** `prefix:{name}`, or `prefix:name` when the name brings its own braces. */
function prefixed(prefix: string, name: string): string {
  return name.includes('{') ? `${prefix}:${name}` : `${prefix}:{${name}}`;
}

/** `{name}:suffix`, or `name:suffix` when the name brings its own braces. */
function suffixed(name: string, suffix: string): string {
  return name.includes('{') ? `${name}:${suffix}` : `{${name}}:${suffix}`;
}

/**
 * Whether all keys and channels of a name are in one slot of a Cluster. They are not when its braces are no hash
 * tag: Redisson's rule takes any opening brace for one, and puts braces around a closing one.
 */
export function sharesOneSlot(name: string): boolean {
  const tag = hashTag(name);
  return hashTag(prefixed('', name)) === tag && hashTag(suffixed(name, '')) === tag;
}

/** The channel for the releases of a lock. */
export function lockChannel(name: string): string {
  return prefixed('redisson_lock__channel', name);
}

/**
 * The tombstone of an owner whose hold is over. Redisson keeps the answer of an unlock under the same template, with a
 * random id; our ids are never used twice either.
 */
export function tombstoneKey(name: string, owner: string): string {
  return `${prefixed('redisson_unlock_latch', name)}:${owner}`;
}

/** The answer to a request that may be repeated. The same template: requests and owners never have the same id. */
export function answerKey(name: string, id: string): string {
  return tombstoneKey(name, id);
}

/** The waiters of a fair lock, in order of arrival. */
export function fairQueueKey(name: string): string {
  return prefixed('redisson_lock_queue', name);
}

/** Until when each waiter of a fair lock counts as alive, by Redisson's rules. */
export function fairTimeoutKey(name: string): string {
  return prefixed('redisson_lock_timeout', name);
}

/** When each waiter of ours last asked; private to this library. */
export function fairSeenKey(name: string): string {
  return prefixed('holdfast_lock_seen', name);
}

/** The channel that tells one waiter of a fair lock of its turn. */
export function fairChannel(name: string, owner: string): string {
  return `${lockChannel(name)}:${owner}`;
}

/** The last fencing token issued. */
export function tokenKey(name: string): string {
  return prefixed('redisson_lock_token', name);
}

/** A value that only the newest token may write. Not the lock's key, so that both may have one name. */
export function registerKey(name: string): string {
  return prefixed('holdfast_register', name);
}

/** The marker of a command that has succeeded under a lock, see `holdfast run --once`. */
export function onceKey(name: string, marker: string): string {
  return `${prefixed('holdfast_once', name)}:${marker}`;
}

/** The channel for the releases of a read/write lock. */
export function readWriteChannel(name: string): string {
  return prefixed('redisson_rwlock', name);
}

/** Waiting writers of ours, to which readers of ours give way; private to this library. */
export function waitingWritersKey(name: string): string {
  return prefixed('holdfast_rwlock_waiting', name);
}

/** Exists as long as one of the read holds of an owner, counted from 1. */
export function readHoldKey(name: string, owner: string, hold: number): string {
  return `${suffixed(name, owner)}:rwlock_timeout:${hold}`;
}

/** The channel for the permits of both kinds of semaphores. */
export function semaphoreChannel(name: string): string {
  return prefixed('redisson_sc', name);
}

/** When each permit of a permit-expirable semaphore ends. */
export function permitTimeoutKey(name: string): string {
  return suffixed(name, 'timeout');
}

/** The channel of a count-down latch. Always adds its own braces, as Redisson does. */
export function latchChannel(name: string): string {
  return `redisson_countdownlatch__channel__{${name}}`;
}

/** Permits left in a rate limiter, for all clients or for one. */
export function rateValueKey(name: string, clientId?: string): string {
  const key = suffixed(name, 'value');
  return clientId === undefined ? key : `${key}:${clientId}`;
}

/** The rate limiter whose permits such a key has; undefined for another key. */
export function rateValueName(key: string): string | undefined {
  const [, inBraces, plain] = /^(?:\{(.*)\}|(.*\{.*)):value(?::[^:]+)?$/s.exec(key) ?? [];
  return inBraces ?? plain;
}

/** Grants of a rate limiter and their times, for all clients or for one. */
export function ratePermitsKey(name: string, clientId?: string): string {
  const key = suffixed(name, 'permits');
  return clientId === undefined ? key : `${key}:${clientId}`;
}

/** Who a client is, for people; private to this library. Every client finds it there, whatever its prefix. */
export function clientRecordKey(clientId: string): string {
  return `holdfast_client:{${clientId}}`;
}
