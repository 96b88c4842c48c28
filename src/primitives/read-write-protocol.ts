/**
 * What the two sides of a read/write lock say to the server.
 *
 * One hash for both: `mode`, a field for each reader, one for the writer. Each side is a protocol of its own,
 * so that its holds are renewed and lost for themselves. A script may only use keys that it is told, and who
 * reads is known once the hash was looked at: where dead readers matter, the server first names the readers,
 * and is then asked about their hold keys.
 */
import { DriverError, ReentryError } from '../errors.ts';
import { endedKey, readHoldKey, readWriteChannel, waitingWritersKey } from '../keys.ts';
import type { Waiting } from '../runtime/acquire.ts';
import type { Owner } from '../runtime/owner.ts';
import type { AcquireAnswer, Beginner, LockProtocol, LockState, Renew } from '../runtime/protocol.ts';
import type { Tenure } from '../runtime/tenure.ts';
import {
  readWriteLockDescribe as describeScript,
  readWriteLockForceRelease as forceReleaseScript,
  lockEnter,
  lockLeave,
  readWriteLockReadAcquire as readAcquireScript,
  readWriteLockReadEnter as readEnterScript,
  readWriteLockReadLeave as readLeaveScript,
  readWriteLockReadRelease as readReleaseScript,
  readWriteLockReadRenew as readRenewScript,
  readWriteLockSteal as stealScript,
  readWriteLockSweep as sweepScript,
  readWriteLockWriteAcquire as writeAcquireScript,
  readWriteLockWriteRelease as writeReleaseScript,
} from '../scripts/generated.ts';
import type { Wire } from './wire.ts';

/** How long a waiter sleeps at most without a message: what a lost wake-up costs. */
const POLL_MS = 5_000;

/** A writer with preference shows itself this often while it waits, and is forgotten after that much silence. */
const SHOW_EVERY_MS = 1_000;
const NOTED_MS = 3_000;

/** More hold keys than this are not looked at in one call; the lock's own TTL must do then. */
const MOST_HOLDS = 50_000;

const WRITER = ':write';
const FREE: LockState = { remainingMs: -2, holder: null };

/** Write tenures whose number a read tenure has used: an owner field is used for one tenure only. */
const numbersUsed = new WeakSet<Tenure>();

type Mode = 'read' | 'write';

export interface WriteStyle {
  /** Readers of ours that hold nothing yet stand back while this writer waits. */
  readonly preferred?: boolean;
  /** Takes the lock whoever holds it. */
  readonly steals?: boolean;
}

function holdKeys(key: string, field: string, first: number, last: number): string[] {
  const keys: string[] = [];
  for (let hold = first; hold <= last; hold += 1) keys.push(readHoldKey(key, field, hold));
  return keys;
}

/** Renews read holds, each with its hold keys. Made once for each client, so that its holds share batches. */
export function renewReads({ driver }: Wire): Renew {
  return async (locks, leaseMs, owners, counts) => {
    const places: string[] = [];
    const holders: string[] = [];
    for (const [i, lock] of locks.entries()) {
      const [owner = '', count = 1] = [owners[i], counts[i]];
      places.push(lock, ...holdKeys(lock, owner, 1, count));
      holders.push(owner, String(count));
    }
    return (await readRenewScript.run(driver, { places }, { leaseMs, holders })).held;
  };
}

/** What both sides have in common. */
export abstract class ReadWriteProtocol {
  readonly name: string;
  readonly key: string;
  readonly identity: string;
  abstract readonly line: string | null;
  readonly renew: Renew;
  protected readonly wire: Wire;
  protected readonly channel: string;
  /** Whose tenure it speaks for, where that is known. */
  protected readonly owner: Owner | undefined;
  readonly #mode: Mode;

  constructor(wire: Wire, name: string, mode: Mode, renew: Renew, owner: Owner | undefined) {
    this.wire = wire;
    this.name = name;
    this.key = wire.rawName(name);
    this.identity = this.identityOf(mode);
    this.renew = renew;
    this.channel = readWriteChannel(this.key);
    this.owner = owner;
    this.#mode = mode;
  }

  async forceRelease(requestId: string): Promise<'released' | 'free'> {
    const { driver, publish, rememberMs } = this.wire;
    const keys = { lock: this.key, answer: endedKey(this.key, requestId) };
    const message = this.#mode === 'read' ? '0' : '1';
    const args = { mode: this.#mode, publish, channel: this.channel, message, rememberMs };
    const reply = await forceReleaseScript.run(driver, keys, args);
    if (reply.status === 'released') this.wire.announced(reply.announced);
    return reply.status;
  }

  /** Of this side only: while another owner writes, the read lock is not locked. */
  async describe(owner?: string): Promise<LockState> {
    const state = await this.#look(owner);
    if (state.status === 'free') return FREE;
    const { mode, holders, remainingMs, holder } = state;
    const isLocked = mode === this.#mode || (this.#mode === 'read' && holders > 1);
    return isLocked ? { remainingMs, holder } : FREE;
  }

  async obstacle(): Promise<LockState> {
    const state = await this.#look();
    return state.status === 'free' ? FREE : state;
  }

  async reach(): Promise<readonly string[]> {
    const state = await this.#look();
    if (state.status === 'free' || state.mode !== this.#mode) return [];
    // With the writer go the read holds that only it can have.
    return this.#mode === 'read' ? [this.identity] : [this.identity, this.identityOf('read')];
  }

  protected identityOf(mode: Mode): string {
    return `${mode} ${this.key}`;
  }

  /** What the owner holds on either side; a hold that is lost counts no more. */
  protected heldAs(mode: Mode, owner: Owner | undefined = this.owner): Tenure | undefined {
    const tenure = owner?.tenureOf(this.identityOf(mode));
    return tenure?.isStillHeld() ? tenure : undefined;
  }

  /** Has the readers that were named looked at: the dead go, and the TTL comes down to what the others need. */
  protected async sweep(readers: readonly string[]): Promise<{ free: boolean; remainingMs: number }> {
    const { driver, publish } = this.wire;
    const holds: string[] = [];
    for (let i = 0; i < readers.length; i += 2) {
      const count = Number(readers[i + 1]);
      if (holds.length + count > MOST_HOLDS) return { free: false, remainingMs: -1 };
      holds.push(...holdKeys(this.key, readers[i] ?? '', 1, count));
    }
    const args = { publish, channel: this.channel, readers };
    const reply = await sweepScript.run(driver, { lock: this.key, holds }, args);
    if (reply.status === 'kept') return { free: false, remainingMs: reply.remainingMs };
    this.wire.announced(reply.announced);
    return { free: true, remainingMs: 0 };
  }

  /** The release itself is done, and whatever becomes of this changes nothing about it. */
  protected async tidy(readers: readonly string[]): Promise<void> {
    if (readers.length > 0) await this.sweep(readers).catch(() => undefined);
  }

  protected ended(owner: string): DriverError {
    // An owner is used for one tenure and barred after it; only a defect of ours could use it again.
    return new DriverError(`The hold of ${owner} on "${this.name}" is over and cannot begin again`);
  }

  #look(owner = '') {
    return describeScript.run(this.wire.driver, { lock: this.key }, { owner });
  }
}

export class ReadProtocol extends ReadWriteProtocol implements LockProtocol {
  readonly line: string;
  /** The most entries that the server may know of: so many hold keys are to be removed in the end. */
  #most = 1;

  constructor(wire: Wire, name: string, renew: Renew, owner?: Owner) {
    super(wire, name, 'read', renew, owner);
    this.line = this.identity;
  }

  begin(owner: Owner | undefined, fresh: string): Beginner {
    const protocol = new ReadProtocol(this.wire, this.name, this.renew, owner);
    const writing = this.heldAs('write', owner);
    if (writing === undefined || numbersUsed.has(writing)) return { field: fresh, protocol };
    numbersUsed.add(writing);
    return { field: writing.owner.slice(0, -WRITER.length), protocol };
  }

  waiting(): Waiting {
    return { kind: 'messages', channel: this.channel, pollMs: POLL_MS, shared: true };
  }

  async acquire(owner: string, leaseMs: number): Promise<AcquireAnswer> {
    const keys = {
      lock: this.key,
      ended: endedKey(this.key, owner),
      hold: readHoldKey(this.key, owner, 1),
      waiting: waitingWritersKey(this.key),
    };
    // Looked up for every attempt: the owner may have become the writer while it waited here.
    const args = { owner, writer: this.heldAs('write')?.owner ?? '', leaseMs };
    const reply = await readAcquireScript.run(this.wire.driver, keys, args);
    if (reply.status === 'ended') throw this.ended(owner);
    return reply;
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

  async release(owner: string, rememberMs: number): Promise<'released' | 'lost'> {
    const { driver, publish } = this.wire;
    const holds = holdKeys(this.key, owner, 1, this.#most);
    const keys = { lock: this.key, ended: endedKey(this.key, owner), holds };
    const args = { owner, publish, channel: this.channel, rememberMs };
    const reply = await readReleaseScript.run(driver, keys, args);
    if (reply.status === 'released') {
      this.wire.announced(reply.announced);
      await this.tidy(reply.readers);
    }
    return reply.status;
  }
}

export class WriteProtocol extends ReadWriteProtocol implements LockProtocol {
  /** The owner's own read holds keep the key alive, and with it the mode. */
  readonly outlivesLease = true;
  readonly line: string | null;
  /** While it counts as waiting on the server there is a note to be taken back. */
  readonly queueMs?: number;
  readonly #style: WriteStyle;

  constructor(wire: Wire, name: string, renew: Renew, style: WriteStyle = {}, owner?: Owner) {
    super(wire, name, 'write', renew, owner);
    this.#style = style;
    // A thief does not stand behind the writers of its own process that wait.
    this.line = style.steals ? null : this.identity;
    if (style.preferred) this.queueMs = NOTED_MS;
  }

  begin(owner: Owner | undefined, fresh: string): Beginner {
    this.#refuseUpgrade(owner);
    const protocol = new WriteProtocol(this.wire, this.name, this.renew, this.#style, owner);
    return { field: `${fresh}${WRITER}`, protocol };
  }

  waiting(): Waiting {
    const pollMs = this.#style.preferred ? SHOW_EVERY_MS : POLL_MS;
    return { kind: 'messages', channel: this.channel, pollMs };
  }

  async acquire(owner: string, leaseMs: number, waitMs: number): Promise<AcquireAnswer> {
    const { driver } = this.wire;
    const [lock, ended] = [this.key, endedKey(this.key, owner)];
    if (this.#style.steals) {
      const reply = await stealScript.run(driver, { lock, ended }, { owner, leaseMs });
      if (reply.status === 'ended') throw this.ended(owner);
      return reply;
    }
    const keys = { lock, ended, waiting: waitingWritersKey(this.key) };
    const args = { owner, leaseMs, noteMs: waitMs > 0 ? (this.queueMs ?? 0) : 0 };
    const attempt = async () => {
      const reply = await writeAcquireScript.run(driver, keys, args);
      if (reply.status === 'ended') throw this.ended(owner);
      return reply;
    };
    const reply = await attempt();
    if (reply.status === 'held' || reply.mode !== 'read') return reply;
    const { free, remainingMs } = await this.sweep(reply.readers);
    // The owner may have begun to read after this was begun.
    this.#refuseUpgrade(this.owner);
    return free ? attempt() : { status: 'busy', remainingMs };
  }

  async enter(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'> {
    return (await lockEnter.run(this.wire.driver, { lock: this.key }, { owner, count, leaseMs })).status;
  }

  async leave(owner: string, count: number): Promise<'held' | 'lost'> {
    return (await lockLeave.run(this.wire.driver, { lock: this.key }, { owner, count })).status;
  }

  async release(owner: string, rememberMs: number): Promise<'released' | 'lost'> {
    const { driver, publish } = this.wire;
    const keys = {
      lock: this.key,
      ended: endedKey(this.key, owner),
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

  /** A writer waits until all readers are out. Who waits for itself waits for ever. */
  #refuseUpgrade(owner: Owner | undefined): void {
    if (this.heldAs('read', owner) === undefined) return;
    throw new ReentryError(
      this.name,
      'is held for reading by the owner that now wants to write: a read lock cannot become a write lock, ' +
        'release it first or take the write lock from the start',
    );
  }
}
