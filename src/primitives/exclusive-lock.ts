/**
 * The one class behind every kind of exclusive lock.
 *
 * What differs between the kinds is what they say to the server, which their `LockProtocol` knows. Waiting,
 * keeping alive and losing are the runtime's. Here the user's call becomes an owner's wish.
 */
import { AcquireTimeoutError, LeaseLostError, NotHeldError, OptionError, ReentryError } from '../errors.ts';
import { checkOptions } from '../options.ts';
import { acquire, type Contest } from '../runtime/acquire.ts';
import { bar } from '../runtime/bar.ts';
import { Owner, type OwnerNumbers, Section, type Sections } from '../runtime/owner.ts';
import { EXPIRED, type Patience } from '../runtime/patience.ts';
import { persist } from '../runtime/persist.ts';
import type { LockProtocol, LockState } from '../runtime/protocol.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type Grant, Tenure } from '../runtime/tenure.ts';
import { type Hold, type HoldOptions, LockHold } from './hold.ts';
import type { Lock, LockOptions, OwnerOption, TryLockOptions, WithLockOptions } from './lock.ts';

/** What every lock of a client shares. */
export interface LockContext {
  readonly clientId: string;
  readonly runtime: Runtime;
  readonly numbers: OwnerNumbers;
  readonly sections: Sections;
}

export class ExclusiveLock implements Lock {
  readonly name: string;
  readonly #context: LockContext;
  readonly #protocol: LockProtocol;
  readonly #reentrant: boolean;

  constructor(context: LockContext, protocol: LockProtocol, { reentrant }: { reentrant: boolean }) {
    this.name = protocol.name;
    this.#context = context;
    this.#protocol = protocol;
    this.#reentrant = reentrant;
  }

  async lock(options?: LockOptions): Promise<Hold> {
    const { signal, owner, ...wish } = checkOptions('lock', options);
    const hold = await this.#takeAs(this.#ownerFor(owner), wish, Number.POSITIVE_INFINITY, signal);
    if (hold === null) throw new Error('a wait without a limit ended');
    return hold;
  }

  async tryLock(options?: TryLockOptions): Promise<Hold | null> {
    const { signal, owner, waitMs = 0, ...wish } = checkOptions('tryLock', options);
    return this.#takeAs(this.#ownerFor(owner), wish, waitMs, signal);
  }

  async withLock<T>(work: (hold: Hold) => T | Promise<T>, options?: WithLockOptions): Promise<T> {
    const { signal, waitMs, onAcquire, onRelease, ...wish } = checkOptions('withLock', options);
    if (typeof work !== 'function') throw new OptionError('withLock needs a function to run');
    const { runtime, sections, clientId } = this.#context;
    const parent = sections.current();
    const section = new Section(parent?.owner ?? new Owner(clientId), parent);
    const { turns } = section.owner.interestIn(this.#protocol.identity);

    runtime.assertOpen();
    using patience = runtime.patience(waitMs ?? Number.POSITIVE_INFINITY, signal);
    // Another section of the same owner may be inside: the lock would let us in beside it, its turn does not.
    if (!(await turns.enter(section, patience))) throw await this.#timeout(waitMs ?? 0);
    try {
      const hold = await this.#take(section.owner, wish, patience);
      if (hold === null) throw await this.#timeout(waitMs ?? 0);
      return await this.#runHolding(hold, section, work, onAcquire, onRelease);
    } finally {
      turns.leave(section);
      section.owner.settle(this.#protocol.identity);
    }
  }

  async #runHolding<T>(
    hold: LockHold,
    section: Section,
    work: (hold: Hold) => T | Promise<T>,
    onAcquire: WithLockOptions['onAcquire'],
    onRelease: WithLockOptions['onRelease'],
  ): Promise<T> {
    let result: T;
    try {
      result = await this.#context.sections.run(section, async () => {
        await onAcquire?.(hold);
        return work(hold);
      });
    } catch (error) {
      await this.#giveBack(hold, onRelease);
      throw error;
    }
    if (await this.#giveBack(hold, onRelease)) return result;
    throw hold.loss ?? new LeaseLostError(this.name, hold.owner, 'notOwner');
  }

  /** Releases after the work; never throws, because what the work did is done. Answers whether it was held. */
  async #giveBack(hold: LockHold, onRelease: WithLockOptions['onRelease']): Promise<boolean> {
    const { runtime } = this.#context;
    let released = true;
    try {
      released = await hold.unlock();
    } catch (error) {
      // It was held to the end; only the release is in doubt, and it is being repeated.
      runtime.report('error', { error, during: `release "${this.name}"` });
    }
    try {
      await onRelease?.(hold, released);
    } catch (error) {
      runtime.report('error', { error, during: `onRelease of "${this.name}"` });
    }
    return released;
  }

  async unlock(options?: OwnerOption): Promise<void> {
    const latest = this.#tenureFor(options)?.latestEntry;
    if (!(latest instanceof LockHold && (await latest.unlock()))) throw new NotHeldError(this.name);
  }

  async forceUnlock(): Promise<boolean> {
    const { runtime, numbers } = this.#context;
    runtime.assertOpen();
    // Our own holders are told before the server can let anyone else in.
    for (const tenure of [...runtime.tenures]) {
      if (tenure.protocol.key === this.#protocol.key) tenure.lose('forced');
    }
    const request = numbers.next();
    const answer = await this.#ask('force-release', () => this.#protocol.forceRelease(request));
    runtime.look(this.#protocol.line);
    return answer === 'released';
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
    const { holder } = await this.#describe();
    return holder === tenure.owner ? tenure.count : 0;
  }

  async remainingMs(): Promise<number> {
    return (await this.#describe()).remainingMs;
  }

  #takeAs(owner: Owner | undefined, wish: HoldOptions, waitMs: number, signal: AbortSignal | undefined) {
    this.#context.runtime.assertOpen();
    const patience = this.#context.runtime.patience(waitMs, signal);
    const taken = owner === undefined ? this.#begin(wish, patience) : this.#take(owner, wish, patience);
    return taken.finally(() => patience[Symbol.dispose]());
  }

  /** Takes the lock as an owner that may have it already, or may be taking it this very moment. */
  async #take(owner: Owner, wish: HoldOptions, patience: Patience): Promise<LockHold | null> {
    const { identity } = this.#protocol;
    const interest = owner.interestIn(identity);
    const visit = Symbol('visit');
    if (!(await interest.gate.enter(visit, patience))) return null;
    try {
      const entered = interest.tenure && (await this.#enter(interest.tenure, wish, patience));
      if (entered !== undefined) return entered;
      return await this.#begin(wish, patience, (tenure) => {
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
    if (!this.#reentrant) throw new ReentryError(this.name);
    const { runtime } = this.#context;
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
    wish: HoldOptions,
    patience: Patience,
    remember?: (tenure: Tenure | undefined) => void,
  ): Promise<LockHold | null> {
    const { runtime, numbers } = this.#context;
    const protocol = this.#protocol;
    const owner = numbers.next();
    const leaseMs = wish.leaseMs ?? runtime.watchdogMs;
    const contest: Contest<Grant> = {
      what: `acquire "${this.name}"`,
      waiting: protocol.waiting(),
      attempt: async () => {
        const sentAt = runtime.leaseClock.sendTime();
        const answer = await protocol.acquire(owner, leaseMs);
        if (answer.status === 'busy') return { granted: false, remainingMs: answer.remainingMs };
        return { granted: true, value: { owner, sentAt, leaseMs, token: answer.token } };
      },
      abandon: () => bar(runtime, protocol, owner, leaseMs),
    };
    const outcome = await acquire(contest, runtime.line(protocol.line), patience, runtime);
    if (!outcome.granted) return null;
    const hold = new LockHold(runtime, this.name, wish);
    const tenure = new Tenure(runtime, protocol, outcome.value, hold, () => remember?.(undefined));
    remember?.(tenure);
    return hold.standOn(tenure);
  }

  #ownerFor(given: unknown): Owner | undefined {
    if (given === undefined) return this.#context.sections.current()?.owner;
    if (given instanceof Owner && given.clientId === this.#context.clientId) return given;
    throw new OptionError('owner must come from owner() of the same client');
  }

  #tenureFor(options: OwnerOption | undefined): Tenure | undefined {
    this.#context.runtime.assertOpen();
    return this.#ownerFor(checkOptions('owned', options).owner)?.tenureOf(this.#protocol.identity);
  }

  async #timeout(waitMs: number): Promise<AcquireTimeoutError> {
    try {
      const { holder, remainingMs } = await this.#protocol.describe();
      return new AcquireTimeoutError(this.name, waitMs, { holder: holder ?? undefined, remainingMs });
    } catch {
      // Who holds it would be nice to know; that the wait is over is what the caller needs.
      return new AcquireTimeoutError(this.name, waitMs);
    }
  }

  #describe(): Promise<LockState> {
    this.#context.runtime.assertOpen();
    return this.#ask('describe', () => this.#protocol.describe());
  }

  #ask<T>(verb: string, call: () => Promise<T>): Promise<T> {
    const { clock, commandTimeoutMs } = this.#context.runtime;
    return persist(clock, commandTimeoutMs, `${verb} "${this.name}"`, call);
  }
}
