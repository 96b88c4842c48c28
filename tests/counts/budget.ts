/**
 * What holdfast may cost, in figures that a machine's speed does not change.
 *
 * A number is exact: a figure that grew fails the check, and one that shrank does too, so that this table stays true and
 * what was won stays won. To accept a change, write the new figure here; the commit says why it is worth it.
 *
 * Promises include those of the caller's own awaits, and what ioredis makes: 4 of the 17 of a lock's cycle belong to the
 * async function that counts. Only sizes are bounds, because versions of Node.js lay objects out differently.
 */
import type { Budget } from './support/compare.ts';

/**
 * One cycle, when all code is warm: one or two scripts, and what they call; beside each command, why it is needed.
 * An `EVALSHA` acquires or releases. A `PUBLISH` wakes the waiters of all clients, also Java's: they sleep until then.
 */
export const CYCLES = {
  'lock() and unlock()': {
    'server: EVALSHA': 2,
    'server: EXISTS': 1, // is it free, and has this owner not ended
    'server: HSET': 1, // the hold, in Redisson's layout
    'server: PEXPIRE': 1, // its lease
    'server: HDEL': 1, // ends the hold if it is this owner's
    'server: PUBLISH': 1,
    'bytes written': 403,
    'bytes read': 7,
    promises: 17,
  },
  // The same commands.
  'withLock()': {
    'server: EVALSHA': 2,
    'server: EXISTS': 1,
    'server: HSET': 1,
    'server: PEXPIRE': 1,
    'server: HDEL': 1,
    'server: PUBLISH': 1,
    'bytes written': 403,
    'bytes read': 7,
    promises: 33,
  },
  'a fenced lock': {
    'server: EVALSHA': 2,
    'server: EXISTS': 1, // is it free, and has this owner not ended
    'server: GET': 1, // the last token: the next is higher
    'server: TIME': 1, // and not below the clock, should the last one be lost
    'server: SET': 1, // the new token
    'server: HSET': 1,
    'server: PEXPIRE': 1,
    'server: HDEL': 1,
    'server: PUBLISH': 1,
    'bytes written': 482,
    'bytes read': 41,
    promises: 17,
  },
  // No PUBLISH: only the head of the queue is woken, and there is none.
  'a fair lock': {
    'server: EVALSHA': 2,
    'server: EXISTS': 2, // is it free, nobody waiting, this owner not ended; and at the end: is there a queue
    'server: HSET': 1,
    'server: PEXPIRE': 1,
    'server: HDEL': 1,
    'server: SET': 1, // tombstone: bars late copies of this owner's commands
    'bytes written': 789,
    'bytes read': 36,
    promises: 20,
  },
  'a read lock': {
    'server: EVALSHA': 2,
    'server: EXISTS': 1, // is it free, no writer preferred, this owner not ended
    'server: HSET': 1, // mode and reader
    'server: PEXPIRE': 1,
    'server: SET': 2, // the hold key, by which other clients see that the reader lives; the tombstone
    'server: HDEL': 1,
    'server: HLEN': 1, // was it the last holder
    'server: DEL': 1, // the mode, which is left, and the hold key
    'server: PUBLISH': 1,
    'bytes written': 680,
    'bytes read': 36,
    promises: 22,
  },
  'a write lock': {
    'server: EVALSHA': 2,
    'server: EXISTS': 1, // is it free, no writer preferred, this owner not ended
    'server: HSET': 1, // mode and writer
    'server: PEXPIRE': 1,
    'server: HDEL': 1,
    'server: HLEN': 1, // does its owner also read
    'server: DEL': 1, // the mode, which is left
    'server: SET': 1, // tombstone
    'server: PUBLISH': 1,
    'bytes written': 595,
    'bytes read': 36,
    promises: 22,
  },
  'a simple lock': {
    'server: EVALSHA': 2,
    'server: EXISTS': 1, // is it free, and has this owner not ended
    'server: SET': 1, // token and lease
    'server: GET': 1, // is it still this owner's
    'server: DEL': 1,
    'server: PUBLISH': 1,
    'bytes written': 433,
    'bytes read': 7,
    promises: 17,
  },
  'a guarded lock': {
    'server: EVALSHA': 2,
    'server: INFO': 1, // which server is this: a promoted or restarted one may have forgotten holds
    'server: GET': 1, // which server was it before
    'server: EXISTS': 1,
    'server: HSET': 1,
    'server: PEXPIRE': 1,
    'server: HDEL': 1,
    'server: SET': 1, // tombstone
    'server: PUBLISH': 1,
    'bytes written': 512,
    'bytes read': 7,
    promises: 19,
  },
  'a semaphore': {
    'server: EVALSHA': 2,
    'server: GET': 3, // was this request answered before, twice; how many permits are free
    'server: DECRBY': 1,
    'server: INCRBY': 1,
    'server: SET': 2, // remembers the answer of each request, so that a copy counts once
    'server: PUBLISH': 1,
    'bytes written': 456,
    'bytes read': 37,
    promises: 25,
  },
  'a permit with a lease': {
    'server: EVALSHA': 2,
    'server: GET': 2, // how many are free; and at the end: is there still a semaphore, with a number
    'server: TIME': 2, // when the lease ends; whether it had ended
    'server: ZRANGE': 1, // has another permit expired
    'server: EXISTS': 1, // has this permit not ended
    'server: DECRBY': 1,
    'server: ZADD': 1, // the permit, with the end of its lease
    'server: PTTL': 1, // both keys are to expire together
    'server: ZSCORE': 1, // had the lease ended
    'server: ZREM': 1,
    'server: INCRBY': 1,
    'server: SET': 1, // tombstone, which also answers a copy
    'server: PUBLISH': 1,
    'bytes written': 662,
    'bytes read': 37,
    promises: 28,
  },
  'a rate limiter': {
    'server: EVALSHA': 1,
    'server: GET': 2, // was this request granted or undone; how many permits are left
    'server: HMGET': 1, // the rate, which may change
    'server: TIME': 1,
    'server: ZSCORE': 1, // is this a copy of a granted request
    'server: ZRANGEBYSCORE': 2, // entries that are over; entries of a clock that was ahead
    'server: ZADD': 1, // the entry
    'server: SET': 1, // how many are left, so that the next request need not sum the history
    'server: PTTL': 1, // the history expires with the limiter
    'bytes written': 384,
    'bytes read': 26,
    promises: 11,
  },
} satisfies Record<string, Budget>;

/** One change of hands while somebody waits. */
export const HAND_OVERS = {
  // Two cycles, one of which begins with two attempts in vain: before it listens, and after.
  'handed over to another client': {
    'server: EVALSHA': 6,
    'server: EXISTS': 4,
    'server: HEXISTS': 2, // in vain: is it taken by an earlier copy of this attempt
    'server: PTTL': 2, // for how long to wait at most, should the message get lost
    'server: HSET': 2,
    'server: PEXPIRE': 2,
    'server: HDEL': 2,
    'server: PUBLISH': 2,
    'bytes written': 1_248,
    'bytes read': 30,
    promises: 50,
  },
  // The server hears nothing of it.
  'passed on inside the process': { promises: 6, timers: 1 },
} satisfies Record<string, Budget>;

/** The objects on the heap that each of many adds, by class, while it lasts; `bytes` are theirs alone. */
export const CROWDS = {
  'a hold': { LockHold: 1, Tenure: 1, Lease: 1, Array: 1, Link: 2, bytes: { atMost: 560 } },
  'a hold after a renewal': { LockHold: 1, Tenure: 1, Lease: 1, Array: 1, Link: 2, bytes: { atMost: 560 } },
  // The object is what the caller wished for.
  'a waiter behind others': {
    LockAcquisition: 1,
    Promise: 1,
    functions: 2,
    Link: 1,
    bytes: { atMost: 630 },
  },
  'a lock that is waited for': {
    LockAcquisition: 1,
    Line: 1,
    Object: 2,
    Promise: 2,
    Set: 1,
    functions: 5,
    Link: 1,
    bytes: { atMost: 1_450 },
  },
} satisfies Record<string, Budget>;

/** What `lock()` passes when nobody contends, below `src/`: ARCHITECTURE.md tells the way. */
export const FILES_OF_LOCK = [
  'locks/protocol-lock',
  'locks/lock-acquisition',
  'locks/scripted-protocol',
  'locks/hold',
  'runtime/acquire',
  'runtime/line',
  'runtime/owner',
  'runtime/tenure',
  'runtime/lease-deadline',
  'runtime/watchdog',
  'scripts/script',
  'drivers/call-timeout',
  'drivers/ioredis/connection',
  'clock',
  'linked-list',
];

export type Scene = keyof typeof CYCLES | keyof typeof HAND_OVERS | keyof typeof CROWDS;
