/**
 * What the multi lock and the red lock have in common: locks made of locks.
 *
 * A group has no key of its own. Its members may be of any exclusive kind and of any client. Inside
 * `withLock` the code runs as one owner on every client that takes part, so that members can be re-entered.
 */
import { AcquireTimeoutError, NotHeldError, OptionError } from '../errors.ts';
import { checkOptions } from '../options.ts';
import { Owner, Section } from '../runtime/owner.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { ExclusiveLock, type LockContext } from './exclusive-lock.ts';
import type { GroupHold } from './group-hold.ts';
import type { Hold, HoldOptions } from './hold.ts';
import type { Lock, LockOptions, OwnerOption, TryLockOptions, WithLockOptions } from './lock.ts';
import { runHolding } from './run-holding.ts';

/** One attempt at the whole group. */
export interface Quest {
  readonly wish: HoldOptions;
  /** Who asks, on each client; undefined for somebody new. */
  readonly ownerOn: (context: LockContext) => Owner | undefined;
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The members as given by the user. */
export function checkMembers(locks: readonly unknown[]): ExclusiveLock[] {
  if (locks.length === 0) throw new OptionError('A lock made of locks needs at least one');
  return locks.map((lock) => {
    if (lock instanceof ExclusiveLock) return lock;
    throw new OptionError('The members must be locks of this library, and not made of locks themselves');
  });
}

export abstract class GroupLock implements Lock {
  readonly name: string;
  protected readonly members: readonly ExclusiveLock[];
  protected readonly needed: number;

  constructor(name: string, members: readonly ExclusiveLock[], needed: number) {
    this.name = name;
    this.members = members;
    this.needed = needed;
  }

  /** Takes enough of the members, or none: null when that could not be had in time. */
  protected abstract collect(quest: Quest): Promise<GroupHold | null>;

  async lock(options?: LockOptions): Promise<Hold> {
    const { signal, owner, ...wish } = checkOptions('lock', options);
    const ownerOn = this.#ownerOn(owner);
    const hold = await this.collect({ wish, ownerOn, waitMs: Number.POSITIVE_INFINITY, signal });
    if (hold === null) throw new Error('a wait without a limit ended');
    return hold;
  }

  async tryLock(options?: TryLockOptions): Promise<Hold | null> {
    const { signal, owner, waitMs = 0, ...wish } = checkOptions('tryLock', options);
    return this.collect({ wish, ownerOn: this.#ownerOn(owner), waitMs, signal });
  }

  async withLock<T>(work: (hold: Hold) => T | Promise<T>, options?: WithLockOptions): Promise<T> {
    const { signal, waitMs, onAcquire, onRelease, ...wish } = checkOptions('withLock', options);
    if (typeof work !== 'function') throw new OptionError('withLock needs a function to run');
    const { clock, report } = this.runtime;
    const endsAt = clock.now() + (waitMs ?? Number.POSITIVE_INFINITY);
    const sections = new Map<LockContext, Section>();
    for (const { context } of this.members) {
      if (sections.has(context)) continue;
      const parent = context.sections.current();
      sections.set(context, new Section(parent?.owner ?? new Owner(context.clientId), parent));
    }
    const inside: (() => void)[] = [];
    try {
      // Sections of one owner side by side take turns with every member, always in the same order.
      for (const member of this.members) {
        const section = sections.get(member.context) as Section;
        const left = await member.enterTurn(section, endsAt - clock.now(), signal);
        if (left === null) throw new AcquireTimeoutError(this.name, waitMs ?? 0);
        inside.push(left);
      }
      const ownerOn = (context: LockContext) => sections.get(context)?.owner;
      const hold = await this.collect({ wish, ownerOn, waitMs: endsAt - clock.now(), signal });
      if (hold === null) throw new AcquireTimeoutError(this.name, waitMs ?? 0);
      let run = async () => {
        await onAcquire?.(hold);
        return work(hold);
      };
      for (const [context, section] of sections) {
        const inner = run;
        run = () => context.sections.run(section, inner);
      }
      return await runHolding(hold, run, report, onRelease);
    } finally {
      for (const leave of inside) leave();
    }
  }

  async unlock(options?: OwnerOption): Promise<void> {
    const { owner } = checkOptions('owned', options);
    const outcomes = await Promise.allSettled(this.#owned(owner).map((ask) => ask.member.unlock(ask.as)));
    const released = outcomes.filter(({ status }) => status === 'fulfilled').length;
    if (released < this.needed) throw new NotHeldError(this.name);
  }

  async forceUnlock(): Promise<boolean> {
    return (await this.#ask((member) => member.forceUnlock())).some((freed) => freed);
  }

  async isLocked(): Promise<boolean> {
    const free = (await this.#ask((member) => member.isLocked())).filter((locked) => !locked).length;
    return free < this.needed;
  }

  async isHeld(options?: OwnerOption): Promise<boolean> {
    return (await this.getHoldCount(options)) > 0;
  }

  async getHoldCount(options?: OwnerOption): Promise<number> {
    const { owner } = checkOptions('owned', options);
    return this.#enough(await Promise.all(this.#owned(owner).map((ask) => ask.member.getHoldCount(ask.as))));
  }

  async remainingMs(): Promise<number> {
    return this.#enough(await this.#ask((member) => member.remainingMs()));
  }

  /** The runtime whose clock and events stand for the group's. */
  protected get runtime(): Runtime {
    return (this.members[0] as ExclusiveLock).context.runtime;
  }

  /** The value that as many members as are needed reach at least. */
  #enough(values: readonly number[]): number {
    return [...values].sort((a, b) => b - a)[this.needed - 1] ?? 0;
  }

  #ask<T>(question: (member: ExclusiveLock) => Promise<T>): Promise<T[]> {
    return Promise.all(this.members.map(question));
  }

  /** An owner belongs to one client; on the others the running code's section decides. */
  #owned(owner: unknown): { member: ExclusiveLock; as: OwnerOption }[] {
    const ownerOn = this.#ownerOn(owner);
    return this.members.map((member) => ({ member, as: { owner: ownerOn(member.context) } }));
  }

  #ownerOn(given: unknown): Quest['ownerOn'] {
    if (given === undefined) return (context) => context.sections.current()?.owner;
    const known = this.members.some(
      ({ context }) => given instanceof Owner && given.clientId === context.clientId,
    );
    if (!known) throw new OptionError('owner must come from owner() of the client of a member');
    const owner = given as Owner;
    return (context) => (owner.clientId === context.clientId ? owner : context.sections.current()?.owner);
  }
}
