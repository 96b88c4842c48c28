/**
 * One round of votes over the servers of a red lock: a hold once a majority has granted the lock, or else the votes.
 *
 * Grants that come after the majority join the hold. Without a majority nothing is kept: grants are released,
 * and requests that are still under way are undone in the background.
 */
import { OptionError } from '../errors.ts';
import type { LockHold } from '../locks/hold.ts';
import type { ProtocolLock } from '../locks/protocol-lock.ts';
import { onAbort } from '../runtime/abort.ts';
import { type GroupHold, releaseAll } from './group-hold.ts';
import type { GroupRequest } from './group-lock.ts';
import { askForVote, isIdentified, mistrust, type Vote } from './quorum-member.ts';

/** The parts of the red lock that a round needs. */
interface Quorum {
  readonly members: readonly ProtocolLock[];
  readonly needed: number;
  form(holds: readonly LockHold[]): GroupHold;
}

function isTwice(votes: readonly Vote[], { runId, member }: Vote): boolean {
  return runId !== '' && votes.some((other) => other.member !== member && other.runId === runId);
}

export class QuorumRound {
  readonly #quorum: Quorum;
  readonly #request: GroupRequest;
  readonly #votes: Vote[] = [];
  readonly #stop = new AbortController();
  /** Until every server has reported its run id, a round waits for all, to find a server named twice at once. */
  readonly #mayEndEarly: boolean;
  #group: GroupHold | undefined;
  #isOver = false;
  #end: (settle: () => void) => void = () => {};

  constructor(quorum: Quorum, request: GroupRequest) {
    this.#quorum = quorum;
    this.#request = request;
    this.#mayEndEarly = quorum.members.every(isIdentified);
  }

  /** @throws the abort reason, or OptionError when one server has two votes */
  run(): Promise<GroupHold | readonly Vote[]> {
    const { signal, ownerOn, holdOptions } = this.#request;
    return new Promise((resolve, reject) => {
      const forget = signal && onAbort(signal, (reason) => this.#drop(() => reject(reason)));
      this.#end = (settle) => {
        this.#isOver = true;
        forget?.();
        settle();
      };
      for (const member of this.#quorum.members) {
        const asked = askForVote(member, ownerOn(member.context), holdOptions.leaseMs, this.#stop.signal);
        void asked.then((vote) =>
          this.#isOver ? this.#countLate(vote) : this.#count(vote, resolve, reject),
        );
      }
    });
  }

  #count(
    vote: Vote,
    resolve: (result: GroupHold | readonly Vote[]) => void,
    reject: (error: unknown) => void,
  ): void {
    const { members, needed } = this.#quorum;
    const votes = this.#votes;
    votes.push(vote);
    if (isTwice(votes, vote)) {
      // The next round must detect this too, and must not end before it has.
      mistrust(vote.member);
      const why = 'Two members of a red lock use the same server: its vote would count twice';
      this.#drop(() => reject(new OptionError(why)));
      return;
    }
    const isComplete = votes.length === members.length;
    if (!isComplete && !this.#mayEndEarly) return;
    const holds = votes.flatMap(({ hold }) => hold ?? []);
    if (holds.length >= needed) {
      this.#decide(holds, resolve);
      return;
    }
    const busy = votes.filter(({ outcome }) => outcome === 'busy').length;
    if (isComplete || busy > members.length - needed) this.#drop(() => resolve(votes));
  }

  #decide(holds: readonly LockHold[], resolve: (result: GroupHold | readonly Vote[]) => void): void {
    const group = this.#quorum.form(holds);
    if (group.remainingMs > 0) {
      this.#group = group;
      this.#end(() => resolve(group));
      return;
    }
    // A majority obtained after the lease has ended does not count.
    const error = new Error('The server granted the lock after the lease had ended');
    const late = this.#votes.map((vote): Vote => (vote.hold ? { ...vote, outcome: 'failed', error } : vote));
    void group[Symbol.asyncDispose]();
    this.#drop(() => resolve(late));
  }

  #countLate(vote: Vote): void {
    const { hold, member } = vote;
    const isWanted = this.#group !== undefined && !isTwice(this.#votes, vote);
    if (this.#group !== undefined && !isWanted) mistrust(member);
    if (hold === null) return;
    if (isWanted) this.#group?.join(hold);
    else void hold[Symbol.asyncDispose]();
  }

  #drop(settle: () => void): void {
    this.#stop.abort(new Error('The vote has ended'));
    void releaseAll(this.#votes.flatMap(({ hold }) => hold ?? []));
    this.#end(settle);
  }
}
