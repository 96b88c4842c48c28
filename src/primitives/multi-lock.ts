/**
 * The multi lock: all of its members or none, as one hold.
 *
 * First every member is tried once, all at the same time: one round trip when all are free. If one is not,
 * what was taken is given back, and they are taken one after the other, waiting for each, in an order that
 * depends on the locks alone. Two who name the same locks in opposite orders take them in the same order and
 * cannot deadlock.
 */
import { OptionError } from '../errors.ts';
import type { CancelTimer } from '../runtime/clock.ts';
import type { ExclusiveLock } from './exclusive-lock.ts';
import { GroupHold } from './group-hold.ts';
import { checkMembers, GroupLock, type Quest } from './group-lock.ts';
import type { Hold } from './hold.ts';

function inCanonicalOrder(members: readonly ExclusiveLock[]): ExclusiveLock[] {
  const byKey = (a: ExclusiveLock, b: ExclusiveLock) =>
    compare(a.protocol.key, b.protocol.key) || compare(a.protocol.identity, b.protocol.identity);
  const ordered = [...members].sort(byKey);
  for (const [i, member] of ordered.entries()) {
    const next = ordered[i + 1];
    if (next?.context === member.context && next.protocol.identity === member.protocol.identity) {
      throw new OptionError(`"${member.name}" is named twice`);
    }
  }
  return ordered;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function releaseAll(holds: readonly Hold[]): Promise<void> {
  // Also when one of them fails: it is reported, and goes on in the background.
  await Promise.all(holds.map((hold) => hold[Symbol.asyncDispose]()));
}

export class MultiLock extends GroupLock {
  constructor(...locks: readonly unknown[]) {
    const members = inCanonicalOrder(checkMembers(locks));
    super(members.map(({ name }) => name).join(' + '), members, members.length);
  }

  protected async collect(quest: Quest): Promise<GroupHold | null> {
    const { clock } = this.runtime;
    const endsAt = clock.now() + quest.waitMs;
    const atOnce = await this.#tryAll(quest);
    if (atOnce !== null) return atOnce;
    return quest.waitMs <= 0 ? null : this.#oneByOne(quest, endsAt);
  }

  async #tryAll({ wish, ownerOn, signal }: Quest): Promise<GroupHold | null> {
    const tries = this.members.map((member) => member.takeAs(ownerOn(member.context), wish, 0, signal));
    const outcomes = await Promise.allSettled(tries);
    const holds = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' && outcome.value) || []);
    if (holds.length === this.members.length) return new GroupHold(this.name, holds, this.needed);
    await releaseAll(holds);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return null;
  }

  async #oneByOne({ wish, ownerOn, signal }: Quest, endsAt: number): Promise<GroupHold | null> {
    const { clock } = this.runtime;
    const holds: Hold[] = [];
    const stopExtending = wish.leaseMs === undefined ? undefined : this.#keepExtending(holds, wish.leaseMs);
    try {
      for (const member of this.members) {
        const leftMs = Math.max(0, endsAt - clock.now());
        const hold = await member.takeAs(ownerOn(member.context), wish, leftMs, signal);
        if (hold === null) {
          await releaseAll(holds);
          return null;
        }
        holds.push(hold);
      }
      const group = new GroupHold(this.name, holds, this.needed);
      // Every lease starts anew with the last one; a member that was lost while waiting is found here.
      if (wish.leaseMs !== undefined) await group.extend(wish.leaseMs);
      group.assertHeld();
      return group;
    } catch (error) {
      await releaseAll(holds);
      throw error;
    } finally {
      stopExtending?.();
    }
  }

  /** The leases of members that are held already must not run out while others are waited for. */
  #keepExtending(holds: readonly Hold[], leaseMs: number): CancelTimer {
    const { clock } = this.runtime;
    let cancel: CancelTimer = () => {};
    const extendLater = () => {
      cancel = clock.after(leaseMs / 3, () => {
        // A failure shows at the end, when the whole group is asserted.
        for (const hold of holds) hold.extend(leaseMs).catch(() => undefined);
        extendLater();
      });
    };
    extendLater();
    return () => cancel();
  }
}
