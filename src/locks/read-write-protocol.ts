/**
 * The commands that both sides of a read/write lock share.
 *
 * Both sides use one hash: `mode`, a field for each reader, one for the writer. Each side has a separate protocol,
 * so that its holds are renewed and lost separately. A script may only use the keys passed to it, and the readers
 * are known only from the hash. So when a reader leaves, the server first names the other readers, and a second
 * script checks their hold keys. The commands of each side are in `read-protocol.ts` and `write-protocol.ts`.
 */
import { readHoldKey, readWriteChannel } from '../keys.ts';
import type { Wire } from '../requests/wire.ts';
import type { Owner } from '../runtime/owner.ts';
import { FREE_LOCK, type LockState, type Renew } from '../runtime/protocol.ts';
import type { Tenure } from '../runtime/tenure.ts';
import {
  readWriteLockDescribe as describeScript,
  readWriteLockForceRelease as forceReleaseScript,
  readWriteLockHolders as holdersScript,
  readWriteLockSweep as sweepScript,
} from '../scripts/generated.ts';

/** The suffix of a writer's field, after the owner's number. */
export const WRITER = ':write';

/** The most checks of the remaining readers after a release, when readers come and go meanwhile. */
const MOST_LOOKS = 3;

/** With more hold keys than this there is no check: dead readers end with the TTL of the lock. */
const MOST_HOLDS = 50_000;

type Mode = 'read' | 'write';

/** The hold keys of a reader, from the first to the last, counted from 1. */
export function holdKeys(key: string, field: string, first: number, last: number): string[] {
  const keys: string[] = [];
  for (let hold = first; hold <= last; hold += 1) keys.push(readHoldKey(key, field, hold));
  return keys;
}

export abstract class ReadWriteProtocol {
  readonly kind: Mode;
  readonly name: string;
  readonly key: string;
  readonly identity: string;
  abstract readonly line: string | null;
  readonly renew: Renew;
  protected readonly wire: Wire;
  protected readonly channel: string;
  /** The owner of the tenure, where known. */
  protected readonly owner: Owner | undefined;

  constructor(wire: Wire, name: string, mode: Mode, renew: Renew, owner: Owner | undefined) {
    this.kind = mode;
    this.wire = wire;
    this.name = name;
    this.key = wire.keyOf(name);
    this.identity = this.identityOf(mode);
    this.renew = renew;
    this.channel = readWriteChannel(this.key);
    this.owner = owner;
  }

  get isOneCommand(): boolean {
    return this.wire.grantSender.isOneCommand(this.key);
  }

  /** The holders of this side. For the writer, that includes the read holds, which only its owner can have. */
  async holders(): Promise<readonly string[]> {
    const reply = await holdersScript.run(this.wire.driver, { lock: this.key }, {});
    return reply.status === 'held' && reply.mode === this.kind ? reply.holders : [];
  }

  async forceRelease(holders: readonly string[], answer: string, rememberMs: number): Promise<void> {
    const { driver, publish } = this.wire;
    const args = { mode: this.kind, publish, channel: this.channel, rememberMs, holders };
    const reply = await forceReleaseScript.run(driver, { lock: this.key, answer }, args);
    this.wire.announced(reply.announced);
    await this.tidy(reply.readers);
  }

  /** Describes this side only: while another owner writes, the read lock is not locked. */
  async describe(owner?: string): Promise<LockState> {
    const state = await this.#look(owner);
    if (state.status === 'free') return FREE_LOCK;
    const { mode, holders, remainingMs, holder } = state;
    const isLocked = mode === this.kind || (this.kind === 'read' && holders > 1);
    return isLocked ? { remainingMs, holder } : FREE_LOCK;
  }

  async obstacle(): Promise<LockState> {
    const state = await this.#look();
    return state.status === 'free' ? FREE_LOCK : state;
  }

  protected identityOf(mode: Mode): string {
    return `${mode} ${this.key}`;
  }

  /** The owner's tenure of the given side; a lost tenure does not count. */
  protected heldAs(mode: Mode, owner: Owner | undefined = this.owner): Tenure | undefined {
    const tenure = owner?.tenureOf(this.identityOf(mode));
    return tenure?.checkDeadline() ? tenure : undefined;
  }

  /**
   * Checks the readers that remain after a release, so that dead readers do not keep the lock. The release is already
   * done: the outcome of the check does not change it.
   */
  protected async tidy(staying: readonly string[]): Promise<void> {
    let readers = staying;
    try {
      for (let look = 0; look < MOST_LOOKS && readers.length > 0; look += 1) {
        readers = await this.#sweep(readers);
      }
    } catch {
      // Dead readers then end with the TTL of the lock.
    }
  }

  /** Answers the readers to check instead, if they have changed. */
  async #sweep(readers: readonly string[]): Promise<readonly string[]> {
    const { driver, publish } = this.wire;
    const holds: string[] = [];
    for (let i = 0; i < readers.length; i += 2) {
      const count = Number(readers[i + 1]);
      if (holds.length + count > MOST_HOLDS) return [];
      holds.push(...holdKeys(this.key, readers[i] ?? '', 1, count));
    }
    const args = { publish, channel: this.channel, readers };
    const reply = await sweepScript.run(driver, { lock: this.key, holds }, args);
    if (reply.status === 'free') this.wire.announced(reply.announced);
    return reply.status === 'changed' ? reply.readers : [];
  }

  #look(owner = '') {
    return describeScript.run(this.wire.driver, { lock: this.key }, { owner });
  }
}
