/**
 * The commands of the exclusive side of a read/write lock: one field for the writer and, for a writer with
 * preference, a note that it waits.
 */
import { ReentryError, ReplicationError } from '../errors.ts';
import { tombstoneKey, waitingWritersKey } from '../keys.ts';
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
import { POLL_MS } from '../runtime/wake/poller.ts';
import {
  readWriteLockHolders as holdersScript,
  lockEnter,
  lockLeave,
  readWriteLockGuardedSteal,
  readWriteLockGuardedWriteAcquire,
  readWriteLockSettledSteal,
  readWriteLockSettledWriteAcquire,
  readWriteLockSteal,
  readWriteLockWriteAcquire,
  readWriteLockWriteReclaim as writeReclaimScript,
  readWriteLockWriteRelease as writeReleaseScript,
} from '../scripts/generated.ts';
import { ReadWriteProtocol, WRITER } from './read-write-protocol.ts';
import { guardedBy } from './reclaiming.ts';

/** How often a waiting writer with preference renews its note, and after how much silence the note expires. */
const SHOW_EVERY_MS = 1_000;
const NOTED_MS = 3_000;

const ACQUIRE = {
  unguarded: readWriteLockWriteAcquire,
  settled: readWriteLockSettledWriteAcquire,
  guarded: readWriteLockGuardedWriteAcquire,
};
const STEAL = {
  unguarded: readWriteLockSteal,
  settled: readWriteLockSettledSteal,
  guarded: readWriteLockGuardedSteal,
};

export interface WriteStyle {
  /** New readers of every holdfast client wait while this writer waits. */
  readonly preferred?: boolean;
  /** Makes the writer steal the lock from its holders; called with the thief's field right after that. */
  readonly onStolen?: (thief: string) => void;
}

export class WriteProtocol extends ReadWriteProtocol implements LockProtocol {
  /** The owner's read holds keep the key alive, and with it the mode. */
  readonly outlivesLease = true;
  readonly line: string | null;
  readonly guarded: Guarded | undefined;
  /** How long the note of a waiting writer lasts: a writer that gives up removes it. */
  readonly waitNoteMs?: number;
  readonly #style: WriteStyle;

  constructor(wire: Wire, name: string, renew: Renew, style: WriteStyle = {}, owner?: Owner) {
    super(wire, name, 'write', renew, owner);
    this.#style = style;
    // A thief does not queue behind the waiting writers of its process.
    this.line = style.onStolen ? null : this.identity;
    if (style.preferred) this.waitNoteMs = NOTED_MS;
    this.guarded = guardedBy(wire, this.key, ({ owner: field, count, leaseMs }, { guard, grace }) => {
      const keys = { lock: this.key, ended: tombstoneKey(this.key, field), ...guard };
      const reader = this.heldAs('read')?.owner ?? '';
      return writeReclaimScript.run(wire.driver, keys, { owner: field, reader, count, leaseMs, ...grace });
    });
  }

  begin(owner: Owner | undefined, fresh: string): TenureStart {
    this.#refuseUpgrade(owner);
    const protocol = new WriteProtocol(this.wire, this.name, this.renew, this.#style, owner);
    return { field: `${fresh}${WRITER}`, protocol };
  }

  waiting(): Waiting {
    const pollMs = this.#style.preferred ? SHOW_EVERY_MS : POLL_MS;
    return { kind: 'messages', channel: this.channel, pollMs };
  }

  async acquire(owner: string, leaseMs: number, waitMs: number): Promise<AcquireAnswer> {
    const { onStolen } = this.#style;
    if (onStolen !== undefined) return this.#steal(owner, leaseMs, onStolen);
    const keys = {
      lock: this.key,
      ended: tombstoneKey(this.key, owner),
      waiting: waitingWritersKey(this.key),
    };
    const args = { owner, leaseMs, noteMs: waitMs > 0 ? (this.waitNoteMs ?? 0) : 0 };
    const reply = await this.wire.grantSender.lock(this, ACQUIRE, keys, args);
    // The owner may have begun to read after this acquisition began.
    if (reply.status === 'busy' && 'mode' in reply && reply.mode === 'read') this.#refuseUpgrade(this.owner);
    return reply;
  }

  async enter(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'> {
    return (await lockEnter.run(this.wire.driver, { lock: this.key }, { owner, count, leaseMs })).status;
  }

  async leave(owner: string, count: number): Promise<'held' | 'lost'> {
    return (await lockLeave.run(this.wire.driver, { lock: this.key }, { owner, count })).status;
  }

  async end(owner: string, rememberMs: number): Promise<'released' | 'lost'> {
    const { driver, publish } = this.wire;
    const keys = {
      lock: this.key,
      ended: tombstoneKey(this.key, owner),
      waiting: waitingWritersKey(this.key),
    };
    const args = { owner, publish, channel: this.channel, rememberMs };
    const reply = await writeReleaseScript.run(driver, keys, args);
    if (reply.status === 'released') {
      this.wire.announced(reply.announced);
      await this.tidy(reply.readers);
    }
    return reply.status;
  }

  /** Names the present holders, so that a late copy of the command robs no other holder. */
  async #steal(owner: string, leaseMs: number, onStolen: (thief: string) => void): Promise<AcquireAnswer> {
    const { driver, grantSender } = this.wire;
    const found = await holdersScript.run(driver, { lock: this.key }, {});
    const robbed = found.status === 'free' ? [] : found.holders;
    const keys = { lock: this.key, ended: tombstoneKey(this.key, owner) };
    const stealing = grantSender.lock(this, STEAL, keys, { owner, leaseMs, robbed });
    const reply = await stealing.catch((error: unknown) => {
      // The holders lost the lock all the same; the thief lacks the replica acknowledgements to keep it.
      if (error instanceof ReplicationError) onStolen(owner);
      throw error;
    });
    // Other owners have taken the lock since: look them up at once.
    if (reply.status === 'changed') return { status: 'busy', remainingMs: 0 };
    if (reply.status === 'held') onStolen(owner);
    return reply;
  }

  /** A writer waits until all readers have left. An owner that reads would wait for itself forever. */
  #refuseUpgrade(owner: Owner | undefined): void {
    if (this.heldAs('read', owner) === undefined) return;
    throw new ReentryError(
      this.name,
      'is held for reading by the owner that now wants to write. A read lock cannot become a write lock: ' +
        'release it first, or take the write lock from the start',
    );
  }
}
