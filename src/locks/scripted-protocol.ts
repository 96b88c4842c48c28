/**
 * The commands that the exclusive locks share: one set of scripts for each key layout. The sets agree in
 * their arguments and answers.
 */
import type { PrimitiveKind } from '../events.ts';
import { lockChannel, tombstoneKey } from '../keys.ts';
import type { GrantingScripts } from '../requests/grant-sender.ts';
import type { Wire } from '../requests/wire.ts';
import {
  type AcquireAnswer,
  FREE_LOCK,
  type Guarded,
  type LockProtocol,
  type LockState,
  type ReleaseAnswer,
  type Renew,
  type Waiting,
} from '../runtime/protocol.ts';
import type {
  lockAcquire,
  lockDescribe,
  lockEnd,
  lockForceRelease,
  lockGuardedAcquire,
  lockHolder,
  lockRelease,
  lockRenew,
  lockSettledAcquire,
} from '../scripts/generated.ts';

export interface LockScripts {
  readonly acquire: {
    readonly unguarded: typeof lockAcquire;
    readonly settled: typeof lockSettledAcquire;
    readonly guarded: typeof lockGuardedAcquire;
  };
  readonly release: typeof lockRelease;
  readonly end: typeof lockEnd;
  readonly renew: typeof lockRenew;
  readonly holder: typeof lockHolder;
  readonly forceRelease: typeof lockForceRelease;
  readonly describe: typeof lockDescribe;
}

/** Renews many locks of one layout in one call. Made once for each client, so that its holds share batches. */
export function renewWith({ renew }: LockScripts, { driver }: Wire): Renew {
  return async (locks, leaseMs, owners) => (await renew.run(driver, { locks }, { leaseMs, owners })).held;
}

export abstract class ScriptedProtocol implements LockProtocol {
  abstract readonly kind: PrimitiveKind;
  readonly name: string;
  readonly key: string;
  readonly renew: Renew;
  abstract readonly identity: string;
  abstract readonly line: string | null;
  protected readonly wire: Wire;
  readonly #scripts: LockScripts;
  /** Every tombstone of this lock begins with it; made by the first acquisition. */
  #tombstonePrefix: string | undefined;

  constructor(wire: Wire, name: string, scripts: LockScripts, renew: Renew) {
    this.wire = wire;
    this.name = name;
    this.key = wire.keyOf(name);
    this.renew = renew;
    this.#scripts = scripts;
  }

  /** Made by each kind of lock, which knows what it must reclaim. */
  abstract readonly guarded: Guarded | undefined;
  abstract waiting(): Waiting;
  abstract enter(owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'>;
  abstract leave(owner: string, count: number): Promise<'held' | 'lost'>;

  /** Computed when needed: a hundred thousand held locks would each keep a string. */
  protected get channel(): string {
    return lockChannel(this.key);
  }

  get isOneCommand(): boolean {
    const { grantSender, replicaCounts } = this.wire;
    // Whether the last count is still valid does not matter: an attempt does not wait for a new one.
    return replicaCounts.noneNeededUntil > Number.NEGATIVE_INFINITY || grantSender.isOneCommand(this.key);
  }

  acquire(owner: string, leaseMs: number): Promise<AcquireAnswer> {
    const keys = { lock: this.key, ended: this.tombstoneOf(owner) };
    return this.grant(this.#scripts.acquire, keys, { owner, leaseMs });
  }

  /** Sends a script that grants the lock; with the guard or acknowledgements where they are part of a grant. */
  protected grant<Keys extends object, Args extends object, Reply extends AcquireAnswer>(
    scripts: GrantingScripts<Keys, Args, Reply>,
    keys: Keys,
    args: Args,
  ): Promise<AcquireAnswer> {
    if (this.#bypassesGrantSender) return scripts.unguarded.run(this.wire.driver, keys, args);
    return this.wire.grantSender.lock(this, scripts, keys, args);
  }

  protected tombstoneOf(owner: string): string {
    this.#tombstonePrefix ??= tombstoneKey(this.key, '');
    return this.#tombstonePrefix + owner;
  }

  /** Neither the guard nor acknowledgements are part of a grant now: the script goes straight to the driver. */
  get #bypassesGrantSender(): boolean {
    const { guard, clock, replicaCounts } = this.wire;
    return guard === undefined && clock.now() < replicaCounts.noneNeededUntil;
  }

  get writesOnce(): boolean {
    return this.wire.writesOnce;
  }

  release(owner: string): Promise<ReleaseAnswer> {
    const { driver, publish } = this.wire;
    const args = { owner, publish, channel: this.channel };
    return this.#scripts.release.run(driver, { lock: this.key }, args).then((reply) => this.#released(reply));
  }

  end(owner: string, rememberMs: number): Promise<ReleaseAnswer> {
    const { driver, publish } = this.wire;
    const keys = { lock: this.key, ended: this.tombstoneOf(owner) };
    const args = { owner, publish, channel: this.channel, rememberMs };
    return this.#scripts.end.run(driver, keys, args).then((reply) => this.#released(reply));
  }

  #released(reply: Awaited<ReturnType<typeof lockRelease.run>>): ReleaseAnswer {
    if (reply.status === 'lost') return 'lost';
    this.wire.announced(reply.heardBy >= 0 ? 1 : 0);
    return this.wire.isHeardByAll || reply.heardBy < 0 ? reply.heardBy : 'released';
  }

  async holders(): Promise<readonly string[]> {
    const reply = await this.#scripts.holder.run(this.wire.driver, { lock: this.key }, {});
    return reply.status === 'free' ? [] : [reply.holder];
  }

  async forceRelease([holder = '']: readonly string[], answer: string, rememberMs: number): Promise<void> {
    const { driver, publish } = this.wire;
    const args = { holder, publish, channel: this.channel, rememberMs };
    const reply = await this.#scripts.forceRelease.run(driver, { lock: this.key, answer }, args);
    this.wire.announced(reply.announced);
  }

  async describe(): Promise<LockState> {
    const reply = await this.#scripts.describe.run(this.wire.driver, { lock: this.key }, {});
    return reply.status === 'free' ? FREE_LOCK : reply;
  }
}
