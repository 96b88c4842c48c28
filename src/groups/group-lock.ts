/**
 * The base of the multi lock and the red lock: locks made of locks.
 *
 * A group has no key. Its members may be of any kind and of any client. Inside `withLock` the code runs as
 * one owner on every client that takes part, so that members can be re-entered.
 */
import { tracesAcquisitions, tracesReleases } from '../channels.ts';
import { AcquireTimeoutError, ClosedError, NotHeldError, OptionError } from '../errors.ts';
import type { Hold, HoldOptions } from '../locks/hold.ts';
import type { Lock, LockOptions, OwnerOption, TryLockOptions, WithLockOptions } from '../locks/lock.ts';
import { heldBy, type LockContext } from '../locks/lock-context.ts';
import { isProtocolLock, type ProtocolLock } from '../locks/protocol-lock.ts';
import { runHolding, workHolding } from '../locks/run-holding.ts';
import { checkOptions } from '../options/checks.ts';
import { isOwner, Owner, Section } from '../runtime/owner.ts';
import type { LockState } from '../runtime/protocol.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Limits } from '../runtime/wait-budget.ts';
import { traceAcquire, traceRelease } from '../tracing.ts';
import type { GroupHold } from './group-hold.ts';

/** A caller's request for the whole group. */
export interface GroupRequest extends Limits {
  readonly holdOptions: HoldOptions;
  /** The owner on each client; undefined for a new owner. */
  readonly ownerOn: (context: LockContext) => Owner | undefined;
}

/** A member, and the owner that is meant on its client. */
interface Owned {
  readonly member: ProtocolLock;
  readonly owner: Owner | undefined;
}

/** Checks the members given by the user. */
export function checkMembers(locks: readonly unknown[]): ProtocolLock[] {
  if (locks.length === 0) throw new OptionError('A multi lock or red lock needs at least one member');
  return locks.map((lock) => {
    if (isProtocolLock(lock)) return lock;
    throw new OptionError('Every member must be a lock of holdfast, and not a multi lock or red lock itself');
  });
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The state that keeps others from taking a lock, according to the server. */
export function obstacleOf({ protocol }: ProtocolLock): Promise<LockState> {
  return protocol.obstacle?.() ?? protocol.describe();
}

/** Orders the members' answers to `getRemainingMs`: `null` is free now, `Infinity` never expires. */
function soonestFree(one: number | null, other: number | null): number {
  const [a, b] = [one ?? -1, other ?? -1];
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export abstract class GroupLock implements Lock {
  abstract readonly kind: 'multi' | 'red';
  readonly name: string;
  protected readonly members: readonly ProtocolLock[];
  /** How many members must be held. */
  readonly needed: number;

  constructor(name: string, members: readonly ProtocolLock[], needed: number) {
    this.name = name;
    this.members = members;
    this.needed = needed;
  }

  /** Takes enough of the members, or none: null when the time has run out. */
  protected abstract collect(request: GroupRequest): Promise<GroupHold | null>;

  async lock(options?: LockOptions): Promise<Hold> {
    const { signal, owner, ...holdOptions } = checkOptions('lock', options);
    const ownerOn = this.#ownerOn(owner);
    const hold = await this.#take({ holdOptions, ownerOn, waitMs: Number.POSITIVE_INFINITY, signal });
    if (hold === null) throw new Error('A wait without a limit ended without a result');
    return hold;
  }

  async tryLock(options?: TryLockOptions): Promise<Hold | null> {
    const { signal, owner, waitMs = 0, ...holdOptions } = checkOptions('tryLock', options);
    return this.#take({ holdOptions, ownerOn: this.#ownerOn(owner), waitMs, signal });
  }

  async withLock<T>(work: (hold: Hold) => T | Promise<T>, options?: WithLockOptions): Promise<T> {
    const { signal, waitMs, onAcquire, onRelease, ...holdOptions } = checkOptions('withLock', options);
    if (typeof work !== 'function') throw new OptionError('withLock() needs a function to run');
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
      const ownerOn = (context: LockContext) => sections.get(context)?.owner;
      const hold = await this.#traced(
        { waitMs: waitMs ?? Number.POSITIVE_INFINITY, signal },
        async (limits) => {
          if (!(await this.#enterTurns(sections, endsAt, limits, inside))) return null;
          const leftMs = Math.max(0, endsAt - clock.now());
          return this.collect({ ...limits, holdOptions, ownerOn, waitMs: leftMs });
        },
      );
      if (hold === null) throw await this.#timeout(waitMs ?? 0);
      let run = () => workHolding<T, Hold>(hold, onAcquire, work);
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
    const owned = this.#owned(checkOptions('owned', options).owner);
    const entered = owned.filter(
      ({ member, owner }) => owner?.tenureOf(member.protocol.identity)?.latestEntry !== undefined,
    );
    // Members that the owner took individually are not released as a group.
    if (entered.length < this.needed) throw new NotHeldError(this.name);
    const unlockAll = () => this.#unlockAll(entered);
    if (!tracesReleases()) return unlockAll();
    const fields = entered.map(({ member, owner }) => owner?.tenureOf(member.protocol.identity)?.owner);
    const about = { kind: this.kind, name: this.name, owner: fields.join(' ') };
    return traceRelease(this.runtime, about, unlockAll, () => false);
  }

  async #unlockAll(entered: readonly Owned[]): Promise<void> {
    const outcomes = await Promise.allSettled(entered.map(({ member, owner }) => member.unlock({ owner })));
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    if (outcomes.length - failures.length >= this.needed) return;
    throw failures.find((error) => !(error instanceof NotHeldError)) ?? new NotHeldError(this.name);
  }

  async forceUnlock(): Promise<boolean> {
    return (await this.#ask((member) => member.forceUnlock())).some((freed) => freed);
  }

  async isLocked(): Promise<boolean> {
    return (await this.getRemainingMs()) !== null;
  }

  async isHeld(options?: OwnerOption): Promise<boolean> {
    return (await this.getHoldCount(options)) > 0;
  }

  async getHoldCount(options?: OwnerOption): Promise<number> {
    const owners = new Map(
      this.#owned(checkOptions('owned', options).owner).map(({ member, owner }) => [member, owner]),
    );
    const counts = await this.#ask((member) => member.getHoldCount({ owner: owners.get(member) }));
    return counts.sort((a, b) => b - a)[this.needed - 1] ?? 0;
  }

  /** The time until enough members are free for another owner. */
  async getRemainingMs(): Promise<number | null> {
    const times = await this.#ask((member) => member.getRemainingMs());
    return times.sort(soonestFree)[this.needed - 1] ?? null;
  }

  #take(request: GroupRequest): Promise<GroupHold | null> {
    return this.#traced(request, (traced) => this.collect(traced));
  }

  #traced<L extends Limits>(
    limits: L,
    take: (limits: L) => Promise<GroupHold | null>,
  ): Promise<GroupHold | null> {
    return tracesAcquisitions() ? traceAcquire(this.runtime, this, limits, take) : take(limits);
  }

  /** The runtime whose clock and events the group uses. */
  protected get runtime(): Runtime {
    return (this.members[0] as ProtocolLock).context.runtime;
  }

  /**
   * Concurrent sections of one owner take turns with every member, always in the same order. A closed client
   * has no turns to give; taking the members will show whether that client is needed.
   */
  async #enterTurns(
    sections: ReadonlyMap<LockContext, Section>,
    endsAt: number,
    { signal, trace }: Limits,
    inside: (() => void)[],
  ): Promise<boolean> {
    const byPlace = (a: ProtocolLock, b: ProtocolLock) =>
      compare(a.protocol.identity, b.protocol.identity) || compare(a.context.clientId, b.context.clientId);
    for (const member of [...this.members].sort(byPlace)) {
      const { context } = member;
      const waitMs = Math.max(0, endsAt - context.runtime.clock.now());
      try {
        const leave = await member.enterTurn(sections.get(context) as Section, { waitMs, signal, trace });
        if (leave === null) return false;
        inside.push(leave);
      } catch (error) {
        if (!(error instanceof ClosedError)) throw error;
      }
    }
    return true;
  }

  /** Asks every member; as many as the group needs must answer. */
  async #ask<T>(question: (member: ProtocolLock) => Promise<T>): Promise<T[]> {
    const outcomes = await Promise.allSettled(this.members.map(question));
    const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    if (answers.length >= this.needed) return answers;
    throw outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
  }

  async #timeout(waitMs: number): Promise<AcquireTimeoutError> {
    try {
      const inTheWay = await Promise.any(
        this.members.map(async (member) => {
          const state = await obstacleOf(member);
          if (state.holder === null) throw new NotHeldError(member.name);
          return heldBy(member.context, state);
        }),
      );
      return new AcquireTimeoutError(this.name, waitMs, inTheWay);
    } catch {
      // The error may lack the holder; the caller mainly needs to know that the wait is over.
      return new AcquireTimeoutError(this.name, waitMs);
    }
  }

  #owned(given: unknown): Owned[] {
    const ownerOn = this.#ownerOn(given);
    return this.members.map((member) => ({ member, owner: ownerOn(member.context) }));
  }

  /** A given owner on its client; elsewhere the owner of the current section, or else the given one's counterpart. */
  #ownerOn(given: unknown): GroupRequest['ownerOn'] {
    if (given === undefined) return (context) => context.sections.current()?.owner;
    if (!isOwner(given) || !this.members.some(({ context }) => given.clientId === context.clientId)) {
      throw new OptionError('owner must come from owner() of a client that one of the members uses');
    }
    return ({ clientId, sections }) => {
      if (given.clientId === clientId) return given;
      return sections.current()?.owner ?? given.on(clientId);
    };
  }
}
