/**
 * The one class behind every kind of lock.
 *
 * The kinds differ in the commands they send, which their `LockProtocol` defines. The runtime handles waiting,
 * renewal and loss. This class turns the user's call into an acquisition by an owner.
 */

import { acquireChannel, holdChannel } from '../channels.ts';
import { NotHeldError, OptionError, ReentryError } from '../errors.ts';
import { checkOptions } from '../options/checks.ts';
import { isBranded } from '../package-copies.ts';
import { promised } from '../runtime/acquire.ts';
import { isOwner, Owner, Section } from '../runtime/owner.ts';
import { FREE_MS, type LockProtocol, type LockState, NO_EXPIRY_MS } from '../runtime/protocol.ts';
import { retry } from '../runtime/retry.ts';
import type { Tenure } from '../runtime/tenure.ts';
import type { Limits } from '../runtime/wait-budget.ts';
import { EXPIRED, type WaitBudget } from '../runtime/wait-budget.ts';
import { type AcquireTrace, traceAcquire } from '../tracing.ts';
import { forceUnlock } from './force-unlock.ts';
import { type Hold, type HoldOptions, LockHold } from './hold.ts';
import type { Lock, LockOptions, OwnerOption, TryLockOptions, WithLockOptions } from './lock.ts';
import { LockAcquisition } from './lock-acquisition.ts';
import { type LockContext, timeoutError } from './lock-context.ts';
import { runHolding, workHolding } from './run-holding.ts';
import { refuseSelfWait, tellSelfWait } from './self-wait.ts';

/** A `LockHold` has every member that a kind of lock promises: the kinds differ in what they expose. */
function shown<H extends Hold>(hold: LockHold): H {
  return hold as Hold as H;
}

const NO_OPTIONS: LockOptions = {};

const BRAND = Symbol.for('holdfast.lock');

/** Whether this is a lock of one key, made by any copy of this package. */
export function isProtocolLock(value: unknown): value is ProtocolLock {
  return isBranded(value, BRAND);
}

export class ProtocolLock<H extends Hold = Hold> implements Lock<H> {
  readonly name: string;
  /** @internal */
  readonly context: LockContext;
  /** @internal */
  readonly protocol: LockProtocol;
  /** @internal Many owners may hold it at once. */
  readonly isShared: boolean;
  readonly #reentrant: boolean;
  readonly #fenced: boolean;

  /** @param kind `shared`: many owners may hold it at once; `fenced`: every hold has a token */
  constructor(
    context: LockContext,
    protocol: LockProtocol,
    kind: { reentrant: boolean; shared?: boolean; fenced?: boolean },
  ) {
    this.name = protocol.name;
    this.context = context;
    this.protocol = protocol;
    this.#reentrant = kind.reentrant;
    this.isShared = kind.shared ?? false;
    this.#fenced = kind.fenced ?? false;
  }

  /** @internal */
  get [BRAND](): true {
    return true;
  }

  lock(options?: LockOptions): Promise<H> {
    return promised(() => {
      const checked = options === undefined ? NO_OPTIONS : checkOptions('lock', options);
      const limits = { waitMs: Number.POSITIVE_INFINITY, signal: checked.signal };
      const taking = this.takeAs(this.#ownerFor(checked.owner), checked, limits);
      // A wait without a limit ends with a hold, or with an error.
      return taking as Promise<unknown> as Promise<H>;
    });
  }

  tryLock(options?: TryLockOptions): Promise<H | null> {
    return promised(() => {
      const checked = checkOptions('tryLock', options);
      const limits = { waitMs: checked.waitMs ?? 0, signal: checked.signal };
      return this.takeAs(
        this.#ownerFor(checked.owner),
        checked,
        limits,
      ) as Promise<unknown> as Promise<H | null>;
    });
  }

  async withLock<T>(work: (hold: H) => T | Promise<T>, options?: WithLockOptions<H>): Promise<T> {
    const { signal, waitMs, onAcquire, onRelease, ...holdOptions } = checkOptions('withLock', options);
    if (typeof work !== 'function') throw new OptionError('withLock() needs a function to run');
    const { runtime, sections, clientId } = this.context;
    const parent = sections.current();
    const section = new Section(parent?.owner ?? new Owner(clientId), parent);

    const limits = { waitMs: waitMs ?? Number.POSITIVE_INFINITY, signal };
    const hold = await this.takeAs(section.owner, holdOptions, limits, section);
    if (hold === null) throw await timeoutError(this, waitMs ?? 0);
    try {
      const run = () => sections.run(section, () => workHolding(shown<H>(hold), onAcquire, work));
      return await runHolding(hold, run, runtime.report, (_, released) =>
        onRelease?.(shown<H>(hold), released),
      );
    } finally {
      this.#leaveTurn(section);
    }
  }

  async unlock(options?: OwnerOption): Promise<void> {
    const latest = this.#tenureFor(options)?.latestEntry;
    if (!(latest instanceof LockHold && (await latest.unlock()))) throw new NotHeldError(this.name);
  }

  async forceUnlock(): Promise<boolean> {
    this.context.runtime.assertOpen();
    return forceUnlock(this.context, this.protocol);
  }

  async isLocked(): Promise<boolean> {
    return (await this.getRemainingMs()) !== null;
  }

  async isHeld(options?: OwnerOption): Promise<boolean> {
    return (await this.getHoldCount(options)) > 0;
  }

  async getHoldCount(options?: OwnerOption): Promise<number> {
    const tenure = this.#tenureFor(options);
    if (tenure === undefined || !tenure.checkDeadline()) return 0;
    const { holder } = await this.#describe(tenure.owner);
    return holder === tenure.owner ? tenure.count : 0;
  }

  async getRemainingMs(): Promise<number | null> {
    const { remainingMs } = await this.#describe();
    if (remainingMs === FREE_MS) return null;
    return remainingMs === NO_EXPIRY_MS ? Number.POSITIVE_INFINITY : remainingMs;
  }

  /** @internal Takes the lock for the given owner, or for a new one; for a section, in its turn. */
  takeAs(
    owner: Owner | undefined,
    holdOptions: HoldOptions,
    limits: Limits,
    section?: Section,
  ): Promise<LockHold | null> {
    // A hold is told of together with the call that acquired it.
    const isFollowed = acquireChannel.hasSubscribers || holdChannel.hasSubscribers;
    if (isFollowed && limits.trace === undefined) {
      const about = { kind: this.protocol.kind, name: this.name, isMember: holdOptions.isMember };
      return traceAcquire(this.context.runtime, about, limits, (traced) =>
        this.takeAs(owner, holdOptions, traced, section),
      );
    }
    if (owner !== undefined) return this.#takeFor(owner, holdOptions, limits, section);
    this.#tellSelfWait(limits);
    return new LockAcquisition(this, undefined, holdOptions, limits.waitMs).take(limits);
  }

  /** @internal Waits for a section's turn within its owner; answers how to end the turn, or null after `waitMs`. */
  async enterTurn(section: Section, { waitMs, signal, trace }: Limits): Promise<(() => void) | null> {
    const { identity } = this.protocol;
    if (this.isShared) return () => {};
    using waitBudget = this.context.runtime.waitBudget(waitMs, signal);
    const { turns } = section.owner.interestIn(identity);
    if (!turns.isOpenTo(section)) trace?.contended();
    if (!(await turns.enter(section, waitBudget))) return null;
    return () => this.#leaveTurn(section);
  }

  /** Takes the lock for an owner that may already hold it or be acquiring it right now; for a section, in its turn. */
  async #takeFor(
    owner: Owner,
    holdOptions: HoldOptions,
    { waitMs, signal, trace }: Limits,
    section?: Section,
  ): Promise<LockHold | null> {
    const { runtime, sections } = this.context;
    runtime.assertOpen();
    using waitBudget = runtime.waitBudget(waitMs, signal);
    const { identity } = this.protocol;
    if (section !== undefined && !this.isShared) {
      // Sections take turns: re-entry would let this one in beside another section of the same owner.
      const { turns } = owner.interestIn(identity);
      if (!turns.isOpenTo(section)) trace?.contended();
      if (!(await turns.enter(section, waitBudget))) return null;
    }
    let taken: LockHold | null | undefined;
    try {
      const around = sections.current();
      if (around !== undefined && around.owner !== owner)
        refuseSelfWait(this, around.owner, { waitMs, signal });
      this.#tellSelfWait({ waitMs, signal });
      // Re-entry is possible at once; only a first acquisition waits for another one of the same owner.
      const held = owner.tenureOf(identity);
      taken = held && (await this.#enter(held, holdOptions, waitBudget, trace));
      if (taken !== undefined) return taken;
      // Looked up only now: the owner may have dropped the interest while the server was asked.
      const interest = owner.interestIn(identity);
      const visit = Symbol('visit');
      if (!interest.gate.isIdle) trace?.contended();
      if (!(await interest.gate.enter(visit, waitBudget))) return null;
      try {
        taken = interest.tenure && (await this.#enter(interest.tenure, holdOptions, waitBudget, trace));
        if (taken !== undefined) return taken;
        const remember = (tenure?: Tenure) => {
          interest.tenure = tenure;
          owner.forgetIfIdle(identity);
        };
        const limits = { waitMs: Math.max(0, waitBudget.endsAt - runtime.clock.now()), signal, trace };
        const acquisition = new LockAcquisition(this, { owner, remember }, holdOptions, limits.waitMs);
        taken = await acquisition.take(limits);
        return taken;
      } finally {
        interest.gate.leave(visit);
        owner.forgetIfIdle(identity);
      }
    } finally {
      if (!taken && section !== undefined) this.#leaveTurn(section);
    }
  }

  /** The section's work is done, or it did not get the lock. */
  #leaveTurn(section: Section): void {
    const { owner } = section;
    const { identity } = this.protocol;
    if (!this.isShared) owner.interestIn(identity).turns.leave(section);
    owner.forgetIfIdle(identity);
  }

  /** Re-enters a tenure; undefined when its last entry has just been released. */
  async #enter(
    tenure: Tenure,
    holdOptions: HoldOptions,
    waitBudget: WaitBudget,
    trace: AcquireTrace | undefined,
  ): Promise<LockHold | undefined> {
    const { runtime } = this.context;
    const isWithoutToken = this.#fenced && tenure.token === undefined;
    if (!this.#reentrant || isWithoutToken) {
      tenure.assertHeld();
      const why = isWithoutToken
        ? 'is already held by this owner through a lock without fencing tokens'
        : undefined;
      if (tenure.count > 0) throw new ReentryError(this.name, why);
      // The tenure is being released: the owner can take the lock again after that.
      await waitBudget.wait(tenure.changed(), Number.POSITIVE_INFINITY);
      return undefined;
    }
    trace?.attempted();
    const hold = new LockHold(runtime, this.name, holdOptions);
    const entering = tenure.enter(hold, holdOptions.leaseMs ?? runtime.watchdogMs).then((entered) => {
      return entered ? hold.attachTo(tenure) : undefined;
    });
    try {
      const entered = await waitBudget.wait(entering, Number.POSITIVE_INFINITY);
      return entered === EXPIRED ? undefined : entered;
    } catch (error) {
      // The caller aborted while the server was asked: the entry is released as soon as it arrives.
      void entering.then(
        (late) => late?.[Symbol.asyncDispose](),
        // The entry failed; the caller has the error.
        () => undefined,
      );
      throw error;
    }
  }

  #tellSelfWait(limits: Limits): void {
    const others = this.context.sections.elsewhere();
    if (others !== undefined && others.length > 0) void tellSelfWait(this, others, limits);
  }

  #ownerFor(given: unknown): Owner | undefined {
    if (given === undefined) return this.context.sections.current()?.owner;
    if (isOwner(given) && given.clientId === this.context.clientId) return given;
    throw new OptionError('owner must come from owner() of the same client');
  }

  #tenureFor(options: OwnerOption | undefined): Tenure | undefined {
    this.context.runtime.assertOpen();
    return this.#ownerFor(checkOptions('owned', options).owner)?.tenureOf(this.protocol.identity);
  }

  #describe(owner?: string): Promise<LockState> {
    const { runtime } = this.context;
    runtime.assertOpen();
    return retry(runtime, `describe "${this.name}"`, () => this.protocol.describe(owner));
  }
}
