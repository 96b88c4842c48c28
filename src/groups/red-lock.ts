/**
 * The red lock: a majority of independent servers, so that it survives the loss of a minority of them.
 *
 * Every server is asked at the same time and gets a time-out far below the lease. A majority obtained after
 * the lease has ended does not count: the deadline of each member is counted from before its server was
 * asked, with drift taken off. On failure the caller releases every member and retries after a random pause,
 * which lets rivals fall out of step. Each member is renewed separately, and the lock is lost with the member
 * that leaves no majority.
 */

import { HoldfastError, OptionError, QuorumError } from '../errors.ts';
import type { LockHold } from '../locks/hold.ts';
import { classify } from '../outcome.ts';
import { WaitBudget } from '../runtime/wait-budget.ts';
import { GroupHold } from './group-hold.ts';
import { checkMembers, GroupLock, type GroupRequest } from './group-lock.ts';
import type { Vote } from './quorum-member.ts';
import { QuorumRound } from './quorum-round.ts';

/** Pauses between attempts are random, from the least to a limit that grows to the most. */
const PAUSE_LEAST_MS = 20;
const PAUSE_FIRST_MS = 200;
const PAUSE_MOST_MS = 1_000;
const PAUSE_GROWTH = 1.2;

function pauseMs(attempt: number): number {
  const most = Math.min(PAUSE_FIRST_MS * PAUSE_GROWTH ** attempt, PAUSE_MOST_MS);
  return PAUSE_LEAST_MS + Math.random() * (most - PAUSE_LEAST_MS);
}

function count(votes: readonly Vote[], counts: (vote: Vote) => boolean): number {
  return votes.filter(counts).length;
}

export class RedLock extends GroupLock {
  readonly kind = 'red';

  constructor(...locks: readonly unknown[]) {
    const members = checkMembers(locks);
    const names = new Set(members.map(({ name }) => name));
    super([...names].join(' + '), members, Math.floor(members.length / 2) + 1);
    if (new Set(members.map(({ context }) => context.clientId)).size < members.length) {
      throw new OptionError(
        'Two members of a red lock come from one client: a red lock needs independent servers',
      );
    }
  }

  /**
   * Without a limit the caller waits as for a single lock: once a majority has answered, for as long as it takes,
   * also through an outage. If no majority answers within the command time-out, the call rejects.
   */
  protected async collect(request: GroupRequest): Promise<GroupHold | null> {
    const { signal, waitMs, holdOptions, trace } = request;
    const { runtime, members, needed } = this;
    const { clock } = runtime;
    const hasLimit = waitMs < Number.POSITIVE_INFINITY;
    let endsAt = clock.now() + (hasLimit ? waitMs : this.#commandTimeoutMs);
    for (let attempt = 0; ; attempt += 1) {
      signal?.throwIfAborted();
      const form = (holds: readonly LockHold[]) => new GroupHold(runtime, this, holds, holdOptions.maxHoldMs);
      trace?.attempted();
      const result = await new QuorumRound({ members, needed, form }, request).run();
      if (result instanceof GroupHold) return result;

      if (result.some(({ outcome }) => outcome === 'busy')) trace?.contended();
      this.#refuseHopeless(result);
      if (!hasLimit && this.#answered(result)) endsAt = Number.POSITIVE_INFINITY;
      const leftMs = endsAt - clock.now();
      if (leftMs <= 0) return this.#giveUp(result);
      using waitBudget = new WaitBudget(clock, Math.min(pauseMs(attempt), leftMs), [signal]);
      await waitBudget.sleep();
    }
  }

  get #commandTimeoutMs(): number {
    return Math.max(...this.members.map(({ context }) => context.runtime.commandTimeoutMs));
  }

  /** Whether a majority answered, including servers whose votes do not count yet. */
  #answered(votes: readonly Vote[]): boolean {
    return (
      this.#isBusy(votes) ||
      count(votes, (vote) => vote.outcome !== 'failed' || vote.abstains === true) >= this.needed
    );
  }

  /** Whether other holders, not failures, prevent a majority. */
  #isBusy(votes: readonly Vote[]): boolean {
    const busy = count(votes, ({ outcome }) => outcome === 'busy');
    const answered = count(votes, ({ outcome }) => outcome !== 'failed');
    return busy > this.members.length - this.needed || answered >= this.needed;
  }

  /** Servers or clients that refused the request would refuse it again. */
  #refuseHopeless(votes: readonly Vote[]): void {
    const errors = votes.flatMap(({ error }) =>
      error !== undefined && classify(error) === 'refused' ? [error] : [],
    );
    if (errors.length <= this.members.length - this.needed) return;
    const [first] = errors;
    const code = codeOf(first);
    const isOne =
      code !== undefined && code !== 'ERR_DRIVER' && errors.every((error) => codeOf(error) === code);
    throw isOne ? first : this.#quorumError(votes);
  }

  #giveUp(votes: readonly Vote[]): null {
    if (this.#isBusy(votes)) return null;
    // The lock is not busy: too many servers have failed for a majority.
    throw this.#quorumError(votes);
  }

  #quorumError(votes: readonly Vote[]): QuorumError {
    const outcomes = this.members.map((member, i) => {
      const vote = votes.find((each) => each.member === member);
      const runId = vote?.runId ? `, run id ${vote.runId}` : '';
      const server = `member ${i + 1}${runId}`;
      return { server, outcome: vote?.outcome ?? ('failed' as const), error: vote?.error };
    });
    return new QuorumError(this.name, outcomes);
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof HoldfastError ? error.code : undefined;
}
