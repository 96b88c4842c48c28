/**
 * The red lock: a majority of independent servers, so that it survives the loss of a minority of them.
 *
 * Every server is asked at the same time and gets a time-out far below the lease. A majority that is had
 * too late is none: each member's own deadline, counted from before it was asked, with drift taken off,
 * says how long it can be relied on. What was taken is released everywhere on failure. Then, after a random
 * pause that lets rivals fall out of step, it is tried again. Renewal is the members' own business, and the
 * lock is lost with the member that leaves no majority.
 *
 * A server that restarted may have forgotten a hold that is still running. Its vote does not count until the
 * longest lease that it could have forgotten is over.
 */
import { OptionError, QuorumError, type ServerOutcome } from '../errors.ts';
import { inspectIdentity } from '../scripts/generated.ts';
import type { ExclusiveLock } from './exclusive-lock.ts';
import { GroupHold } from './group-hold.ts';
import { checkMembers, GroupLock, type Quest } from './group-lock.ts';
import type { LockHold } from './hold.ts';

/** A server gets this share of the lease to answer, within bounds: one that is down must not use up the lease. */
const ANSWER_SHARE = 1 / 100;
const ANSWER_LEAST_MS = 50;
const ANSWER_MOST_MS = 1_000;

/** Pauses between attempts. */
const PAUSE_LEAST_MS = 20;
const PAUSE_MOST_MS = 200;

interface Vote {
  readonly member: ExclusiveLock;
  readonly runId: string;
  readonly outcome: ServerOutcome['outcome'];
  readonly hold: LockHold | null;
  readonly error?: unknown;
}

export class RedLock extends GroupLock {
  constructor(...locks: readonly unknown[]) {
    const members = checkMembers(locks);
    const names = new Set(members.map(({ name }) => name));
    super([...names].join(' + '), members, Math.floor(members.length / 2) + 1);
    if (new Set(members.map(({ context }) => context.clientId)).size < members.length) {
      throw new OptionError('Two members come from one client: a red lock needs independent servers');
    }
  }

  protected async collect(quest: Quest): Promise<GroupHold | null> {
    const { clock } = this.runtime;
    const endsAt = clock.now() + quest.waitMs;
    for (;;) {
      const votes = await this.#vote(quest);
      const holds = votes.flatMap(({ hold }) => hold ?? []);
      const group = new GroupHold(this.name, holds, this.needed);
      if (group.remainingMs > 0 && !quest.signal?.aborted) return group;
      await group[Symbol.asyncDispose]();
      quest.signal?.throwIfAborted();

      const pauseMs = PAUSE_LEAST_MS + Math.random() * (PAUSE_MOST_MS - PAUSE_LEAST_MS);
      if (clock.now() + pauseMs >= endsAt) return this.#giveUp(votes);
      using patience = this.runtime.patience(pauseMs, quest.signal);
      await patience.wait(new Promise<never>(() => {}));
    }
  }

  #giveUp(votes: readonly Vote[]): null {
    const answered = votes.filter(({ outcome }) => outcome !== 'failed').length;
    if (answered >= this.needed) return null;
    // Not busy but broken: with so many servers gone there can be no majority.
    throw new QuorumError(
      this.name,
      votes.map(({ member, runId, outcome, error }, i) => ({
        server: runId || `member ${i + 1} (client ${member.context.clientId})`,
        outcome,
        error,
      })),
    );
  }

  async #vote(quest: Quest): Promise<Vote[]> {
    const votes = await Promise.all(this.members.map((member) => this.#ask(member, quest)));
    const seen = new Set<string>();
    for (const { runId } of votes) {
      if (runId !== '' && seen.has(runId)) {
        await Promise.all(votes.map(({ hold }) => hold?.[Symbol.asyncDispose]()));
        throw new OptionError('Two members of a red lock are the same server, whose vote would count twice');
      }
      seen.add(runId);
    }
    return votes;
  }

  async #ask(member: ExclusiveLock, { wish, ownerOn }: Quest): Promise<Vote> {
    const { runtime } = member.context;
    const leaseMs = wish.leaseMs ?? runtime.watchdogMs;
    const tooSlow = new AbortController();
    const answerMs = Math.min(Math.max(leaseMs * ANSWER_SHARE, ANSWER_LEAST_MS), ANSWER_MOST_MS);
    const cancel = runtime.clock.after(answerMs, () => {
      tooSlow.abort(new Error(`No answer within ${Math.round(answerMs)} ms`));
    });
    let runId = '';
    try {
      // Asked together, so that the answer tells of the process that granted the lock.
      const [taking, server] = await Promise.allSettled([
        member.takeAs(ownerOn(member.context), wish, 0, tooSlow.signal),
        inspectIdentity.run(runtime.driver, {}, {}),
      ]);
      if (taking.status === 'rejected') throw taking.reason;
      const hold = taking.value;
      if (server.status === 'rejected') {
        await hold?.[Symbol.asyncDispose]();
        throw server.reason;
      }
      runId = server.value.runId;
      if (hold === null) return { member, runId, outcome: 'busy', hold };
      if (this.#mayHaveForgotten(server.value.uptimeSeconds, Math.max(leaseMs, runtime.watchdogMs))) {
        await hold[Symbol.asyncDispose]();
        return {
          member,
          runId,
          outcome: 'failed',
          hold: null,
          error: new Error('It restarted a moment ago'),
        };
      }
      return { member, runId, outcome: 'held', hold };
    } catch (error) {
      return { member, runId, outcome: 'failed', hold: null, error };
    } finally {
      cancel();
    }
  }

  /** Where a server does not tell its uptime, nothing can be said; whole seconds, rounded down, err on the safe side. */
  #mayHaveForgotten(uptimeSeconds: string, longestLeaseMs: number): boolean {
    return uptimeSeconds !== '' && Number(uptimeSeconds) * 1000 < longestLeaseMs;
  }
}
