/**
 * The one class behind every kind of exclusive lock.
 *
 * What differs between the kinds is what they say to the server, which their `LockProtocol` knows. Waiting,
 * keeping alive and losing are the runtime's. Here the user's call becomes an owner's wish.
 */
import { AcquireTimeoutError, NotHeldError, OptionError, ReentryError } from '../errors.ts';
import { checkOptions } from '../options.ts';
import { bar } from '../runtime/bar.ts';
import { Owner, Section } from '../runtime/owner.ts';
import { EXPIRED, type Patience } from '../runtime/patience.ts';
import { persist } from '../runtime/persist.ts';
import type { LockProtocol, LockState } from '../runtime/protocol.ts';
import { assertInTime, Tenure } from '../runtime/tenure.ts';
import { claimLock } from './claim.ts';
import { forceUnlock } from './force-unlock.ts';
import { type Hold, type HoldOptions, LockHold } from './hold.ts';
import type { Lock, LockOptions, OwnerOption, TryLockOptions, WithLockOptions } from './lock.ts';
import type { LockContext } from './lock-context.ts';
import { runHolding, workHolding } from './run-holding.ts';

/** A `LockHold` is whatever the kind of lock promises its users: the kinds differ in what they show of it. */
function shown<H extends Hold>(hold: LockHold): H {
  return hold as Hold as H;
}

export class ExclusiveLock<H extends Hold = Hold> implements Lock<H> {
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

  async lock(options?: LockOptions): Promise<H> {
    const { signal, owner, ...wish } = checkOptions('lock', options);
    const hold = await this.takeAs(this.#ownerFor(owner), wish, Number.POSITIVE_INFINITY, signal);
    if (hold === null) throw new Error('a wait without a limit ended');
    return shown<H>(hold);
  }

  async tryLock(options?: TryLockOptions): Promise<H | null> {
    const { signal, owner, waitMs = 0, ...wish } = checkOptions('tryLock', options);
    const hold = await this.takeAs(this.#ownerFor(owner), wish, waitMs, signal);
    return hold && shown<H>(hold);
  }

  async withLock<T>(work: (hold: H) => T | Promise<T>, options?: WithLockOptions<H>): Promise<T> {
    const { signal, waitMs, onAcquire, onRelease, ...wish } = checkOptions('withLock', options);
    if (typeof work !== 'function') throw new OptionError('withLock needs a function to run');
    const { runtime, sections, clientId } = this.context;
    const parent = sections.current();
    const section = new Section(parent?.owner ?? new Owner(clientId), parent);

    runtime.assertOpen();
    using patience = runtime.patience(waitMs ?? Number.POSITIVE_INFINITY, signal);
    const { turns } = section.owner.interestIn(this.protocol.identity);
    // Another section of the same owner may be inside: the lock would let us in beside it, its turn does not.
    const takesTurns = !this.isShared;
    if (takesTurns && !(await turns.enter(section, patience))) throw await this.#timeout(waitMs ?? 0);
    try {
      const hold = await this.#take(section.owner, wish, patience);
      if (hold === null) throw await this.#timeout(waitMs ?? 0);
      const run = () => sections.run(section, () => workHolding(shown<H>(hold), onAcquire, work));
      return await runHolding(hold, run, runtime.report, (_, released) =>
        onRelease?.(shown<H>(hold), released),
      );
    } finally {
      if (takesTurns) turns.leave(section);
      section.owner.settle(this.protocol.identity);
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
    return (await this.remainingMs()) !== -2;
  }

  async isHeld(options?: OwnerOption): Promise<boolean> {
    return (await this.getHoldCount(options)) > 0;
  }

  async getHoldCount(options?: OwnerOption): Promise<number> {
    const tenure = this.#tenureFor(options);
    if (tenure === undefined || !tenure.isStillHeld()) return 0;
    const { holder } = await this.#describe(tenure.owner);
    return holder === tenure.owner ? tenure.count : 0;
  }

  async remainingMs(): Promise<number> {
    return (await this.#describe()).remainingMs;
  }

  /** @internal Takes the lock for an owner, or for somebody new. */
  takeAs(
    owner: Owner | undefined,
    wish: HoldOptions,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<LockHold | null> {
    this.context.runtime.assertOpen();
    const patience = this.context.runtime.patience(waitMs, signal);
    const taken =
      owner === undefined ? this.#begin(undefined, wish, patience) : this.#take(owner, wish, patience);
    return taken.finally(() => patience[Symbol.dispose]());
  }

  /** @internal Waits for a section's turn among those of its owner; answers how to leave, or null in time. */
  async enterTurn(
    section: Section,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<(() => void) | null> {
    const { identity } = this.protocol;
    if (this.isShared) return () => {};
    using patience = this.context.runtime.patience(waitMs, signal);
    const { turns } = section.owner.interestIn(identity);
    if (!(await turns.enter(section, patience))) return null;
    return () => {
      turns.leave(section);
      section.owner.settle(identity);
    };
  }

  /** Takes the lock as an owner that may have it already, or may be taking it this very moment. */
  async #take(owner: Owner, wish: HoldOptions, patience: Patience): Promise<LockHold | null> {
    const { identity } = this.protocol;
    // What it holds it can enter at once; only who begins must wait for one who is just beginning.
    const held = owner.tenureOf(identity);
    let entered = held && (await this.#enter(held, wish, patience));
    if (entered !== undefined) return entered;
    // Not before: what is known of the lock may have been forgotten while the server was asked.
    const interest = owner.interestIn(identity);
    const visit = Symbol('visit');
    if (!(await interest.gate.enter(visit, patience))) return null;
    try {
      entered = interest.tenure && (await this.#enter(interest.tenure, wish, patience));
      if (entered !== undefined) return entered;
      return await this.#begin(owner, wish, patience, (tenure) => {
        interest.tenure = tenure;
        owner.settle(identity);
      });
    } finally {
      interest.gate.leave(visit);
      owner.settle(identity);
    }
  }

  /** Enters a tenure once more; undefined when its last entry has just been taken back. */
  async #enter(tenure: Tenure, wish: HoldOptions, patience: Patience): Promise<LockHold | undefined> {
    const { runtime } = this.context;
    const isWithoutToken = this.#fenced && tenure.token === undefined;
    if (!this.#reentrant || isWithoutToken) {
      tenure.assertHeld();
      const why = isWithoutToken ? 'is held by its owner as a lock without tokens' : undefined;
      if (tenure.count > 0) throw new ReentryError(this.name, why);
      // Being released this very moment: it can be taken anew after that.
      await patience.wait(tenure.changed(), Number.POSITIVE_INFINITY);
      return undefined;
    }
    const hold = new LockHold(runtime, this.name, wish);
    const entering = tenure.enter(hold, wish.leaseMs ?? runtime.watchdogMs).then((entered) => {
      return entered ? hold.standOn(tenure) : undefined;
    });
    try {
      const entered = await patience.wait(entering, Number.POSITIVE_INFINITY);
      return entered === EXPIRED ? undefined : entered;
    } catch (error) {
      // Aborted while the server was being asked: the entry is taken back as soon as it is there.
      void entering.then(
        (late) => late?.[Symbol.asyncDispose](),
        // It never came to be; the caller has the reason.
        () => undefined,
      );
      throw error;
    }
  }

  /** Begins a tenure under a fresh owner field. */
  async #begin(
    who: Owner | undefined,
    wish: HoldOptions,
    patience: Patience,
    remember?: (tenure: Tenure | undefined) => void,
  ): Promise<LockHold | null> {
    const { runtime } = this.context;
    const claim = await claimLock(this, who, wish, patience);
    if (claim === null) return null;
    const { protocol, grant } = claim;
    try {
      // Closed in the moment of the grant, after everything that was held had been released.
      runtime.assertOpen();
      assertInTime(runtime, protocol, grant);
    } catch (error) {
      bar(runtime, protocol, grant.owner, grant.leaseMs);
      // The next in line took the lock for held, and would wait for a poll.
      runtime.look(protocol.line);
      throw error;
    }
    const hold = new LockHold(runtime, this.name, wish);
    const tenure = new Tenure(runtime, protocol, grant, hold, () => remember?.(undefined));
    remember?.(tenure);
    return hold.standOn(tenure);
  }

  #ownerFor(given: unknown): Owner | undefined {
    if (given === undefined) return this.context.sections.current()?.owner;
    if (given instanceof Owner && given.clientId === this.context.clientId) return given;
    throw new OptionError('owner must come from owner() of the same client');
  }

  #tenureFor(options: OwnerOption | undefined): Tenure | undefined {
    this.context.runtime.assertOpen();
    return this.#ownerFor(checkOptions('owned', options).owner)?.tenureOf(this.protocol.identity);
  }

  async #timeout(waitMs: number): Promise<AcquireTimeoutError> {
    try {
      const { holder, remainingMs } = await (this.protocol.obstacle?.() ?? this.protocol.describe());
      return new AcquireTimeoutError(this.name, waitMs, { holder: holder ?? undefined, remainingMs });
    } catch {
      // Who holds it would be nice to know; that the wait is over is what the caller needs.
      return new AcquireTimeoutError(this.name, waitMs);
    }
  }

  #describe(owner?: string): Promise<LockState> {
    this.context.runtime.assertOpen();
    const { clock, commandTimeoutMs } = this.context.runtime;
    return persist(clock, commandTimeoutMs, `describe "${this.name}"`, () => this.protocol.describe(owner));
  }
}
