/**
 * The commands of the shared side of a read/write lock: a field for each reader, and a key for each of its holds,
 * which shows other clients whether the hold is still alive.
 */
import { readHoldKey, tombstoneKey, waitingWritersKey } from '../keys.ts';
import type { Wire } from '../requests/wire.ts';
import type { Owner } from '../runtime/owner.ts';
import type {
  AcquireAnswer,
  Guarded,
  LockProtocol,
  Renew,
  TenureStart,
  Waiting,
} from '../runtime/protocol.ts';
import type { Tenure } from '../runtime/tenure.ts';
import { POLL_MS } from '../runtime/wake/poller.ts';
import {
  readWriteLockReadEnter as readEnterScript,
  readWriteLockReadLeave as readLeaveScript,
  readWriteLockReadReclaim as readReclaimScript,
  readWriteLockReadRelease as readReleaseScript,
  readWriteLockReadRenew as readRenewScript,
  readWriteLockGuardedReadAcquire,
  readWriteLockReadAcquire,
  readWriteLockSettledReadAcquire,
} from '../scripts/generated.ts';
import { holdKeys, ReadWriteProtocol, WRITER } from './read-write-protocol.ts';
import { guardedBy } from './reclaiming.ts';

/** Write tenures whose number a read tenure has used: an owner field is used for one tenure only. */
const numbersUsed = new WeakSet<Tenure>();

/** Renews read holds, each with its hold keys. Made once for each client, so that its holds share batches. */
export function renewReads({ driver }: Wire): Renew {
  return async (locks, leaseMs, owners, counts) => {
    const places: string[] = [];
    const holders: string[] = [];
    for (const [i, lock] of locks.entries()) {
      const [owner = '', count = 1] = [owners[i], counts[i]];
      places.push(lock, ...holdKeys(lock, owner, 1, count));
      holders.push(owner, String(count), String(leaseMs));
    }
    return (await readRenewScript.run(driver, { places }, { holders })).held;
  };
}

const ACQUIRE = {
  unguarded: readWriteLockReadAcquire,
  settled: readWriteLockSettledReadAcquire,
  guarded: readWriteLockGuardedReadAcquire,
};

export class ReadProtocol extends ReadWriteProtocol implements LockProtocol {
  /** Other readers keep the key alive, and with it the field. */
  readonly outlivesLease = true;
  /** The watchdog of a Redisson reader sets the TTL of the whole lock to its lease. */
  readonly isCutByOthers = true;
  readonly line: string;
  readonly guarded: Guarded | undefined;
  /** The most entries that the server may know of: the release removes that many hold keys. */
  #most = 1;

  constructor(wire: Wire, name: string, renew: Renew, owner?: Owner) {
    super(wire, name, 'read', renew, owner);
    this.line = this.identity;
    this.guarded = guardedBy(wire, this.key, ({ owner: field, count, leaseMs }, { guard, grace }) => {
      const ended = tombstoneKey(this.key, field);
      const keys = { lock: this.key, ended, ...guard, holds: holdKeys(this.key, field, 1, count) };
      const writer = this.heldAs('write')?.owner ?? '';
      return readReclaimScript.run(wire.driver, keys, { owner: field, writer, leaseMs, ...grace });
    });
  }

  /** While its owner writes. After the client has closed, no tenure is held. */
  get isDowngrade(): boolean {
    return this.heldAs('write') !== undefined;
  }

  begin(owner: Owner | undefined, fresh: string): TenureStart {
    const protocol = new ReadProtocol(this.wire, this.name, this.renew, owner);
    const writing = this.heldAs('write', owner);
    if (writing === undefined || numbersUsed.has(writing)) return { field: fresh, protocol };
    numbersUsed.add(writing);
    return { field: writing.owner.slice(0, -WRITER.length), protocol };
  }

  waiting(): Waiting {
    return { kind: 'messages', channel: this.channel, pollMs: POLL_MS };
  }

  async acquire(owner: string, leaseMs: number): Promise<AcquireAnswer> {
    const keys = {
      lock: this.key,
      ended: tombstoneKey(this.key, owner),
      hold: readHoldKey(this.key, owner, 1),
      waiting: waitingWritersKey(this.key),
    };
    // Looked up for every attempt: the owner may have become the writer while it waited here.
    const args = { owner, writer: this.heldAs('write')?.owner ?? '', leaseMs };
    return this.wire.grantSender.lock(this, ACQUIRE, keys, args);
  }

  async enter(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'> {
    this.#most = Math.max(this.#most, count);
    const keys = { lock: this.key, holds: holdKeys(this.key, owner, 1, count) };
    return (await readEnterScript.run(this.wire.driver, keys, { owner, leaseMs })).status;
  }

  async leave(owner: string, count: number): Promise<'held' | 'lost'> {
    const keys = { lock: this.key, holds: holdKeys(this.key, owner, count + 1, this.#most) };
    return (await readLeaveScript.run(this.wire.driver, keys, { owner, count })).status;
  }

  async end(owner: string, rememberMs: number): Promise<'released' | 'lost'> {
    const { driver, publish } = this.wire;
    const holds = holdKeys(this.key, owner, 1, this.#most);
    const keys = { lock: this.key, ended: tombstoneKey(this.key, owner), holds };
    const args = { owner, publish, channel: this.channel, rememberMs };
    const reply = await readReleaseScript.run(driver, keys, args);
    if (reply.status === 'released') {
      this.wire.announced(reply.announced);
      await this.tidy(reply.readers);
    }
    return reply.status;
  }
}
