/**
 * How one server of a red lock votes: it grants the lock, says that it is busy, or fails to answer in time.
 *
 * A server that restarted may have forgotten a hold that is still running. It abstains until the longest lease
 * that it could have forgotten is over.
 */

import type { Clock } from '../clock.ts';
import type { ServerOutcome } from '../errors.ts';
import type { LockHold } from '../locks/hold.ts';
import type { ProtocolLock } from '../locks/protocol-lock.ts';
import { toHoldfastError } from '../outcome.ts';
import { onAbort } from '../runtime/abort.ts';
import type { Owner } from '../runtime/owner.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { WaitBudget } from '../runtime/wait-budget.ts';
import { inspectIdentity } from '../scripts/generated.ts';

/** A server gets this share of the lease to answer, within bounds: one that is down must not use up the lease. */
const ANSWER_SHARE = 1 / 20;
const ANSWER_LEAST_MS = 50;
const ANSWER_MOST_MS = 1_000;
/** Of a very short lease this much may pass at most. */
const ANSWER_MOST_SHARE = 1 / 4;

export interface Vote {
  readonly member: ProtocolLock;
  readonly outcome: ServerOutcome['outcome'];
  readonly hold: LockHold | null;
  /** The run id of the server; empty when it did not tell. */
  readonly runId: string;
  readonly error?: unknown;
  /** It answered, and its vote does not count yet. */
  readonly abstains?: boolean;
}

/** Those whose server has been asked who it is, and has had its time to answer. */
const identified = new WeakSet<Runtime>();

export function isIdentified({ context }: ProtocolLock): boolean {
  return identified.has(context.runtime);
}

/** It turned out to be somebody else than it should: it is to be waited for again. */
export function mistrust({ context }: ProtocolLock): void {
  identified.delete(context.runtime);
}

function answerMs(leaseMs: number): number {
  const share = Math.min(Math.max(leaseMs * ANSWER_SHARE, ANSWER_LEAST_MS), ANSWER_MOST_MS);
  return Math.min(share, leaseMs * ANSWER_MOST_SHARE);
}

/** A signal that aborts with the given one, or when the time for an answer is over. To be disposed of. */
class Limit implements Disposable {
  readonly #controller = new AbortController();
  readonly #forget: (() => void)[];

  constructor(clock: Clock, limitMs: number, signal: AbortSignal) {
    const cancel = clock.after(limitMs, () => {
      // Answers may lie ready that a blocked event loop has not read: they come before what is set here.
      setImmediate(() => {
        this.#controller.abort(new Error(`There was no answer within ${Math.round(limitMs)} ms`));
      });
    });
    this.#forget = [cancel, onAbort(signal, (reason) => this.#controller.abort(reason))];
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const forget of this.#forget) forget();
  }
}

interface Identity {
  readonly runId: string;
  readonly uptimeSeconds: string;
}

async function identify(runtime: Runtime, key: string, signal: AbortSignal): Promise<Identity> {
  using waitBudget = new WaitBudget(runtime.clock, Number.POSITIVE_INFINITY, [signal]);
  const asked = inspectIdentity.run(runtime.driver, { lock: key }, {}).catch((error: unknown) => {
    throw toHoldfastError(error, 'Asking which server this is');
  });
  return (await waitBudget.wait(asked)) as Identity;
}

/**
 * The uptime is the difference of two times in whole seconds, and may be up to a second more than has passed.
 * Where a server does not tell it, nothing can be said.
 */
function mayHaveForgotten(uptimeSeconds: string, longestLeaseMs: number): boolean {
  return uptimeSeconds !== '' && (Number(uptimeSeconds) - 1) * 1_000 < longestLeaseMs;
}

/** Asks one server, on behalf of an owner or of somebody new. Settles in time, and never rejects. */
export async function askForVote(
  member: ProtocolLock,
  owner: Owner | undefined,
  leaseMs: number | undefined,
  signal: AbortSignal,
): Promise<Vote> {
  const { runtime } = member.context;
  const { key, identity } = member.protocol;
  const soughtMs = leaseMs ?? runtime.watchdogMs;
  const held = owner?.tenureOf(identity);
  using limit = new Limit(runtime.clock, answerMs(soughtMs), signal);
  const [taking] = await Promise.allSettled([
    (async () => member.takeAs(owner, { leaseMs, isMember: true }, { waitMs: 0, signal: limit.signal }))(),
  ]);
  // A hold that the owner entered again the server has not forgotten. One that was just being released began anew.
  const isEntered = held !== undefined && owner?.tenureOf(identity) === held;
  // Asked after the grant, so that the process that answers is the one that granted the lock, or a younger one.
  const [server] = await Promise.allSettled([identify(runtime, key, limit.signal)]);
  identified.add(runtime);
  const runId = server.status === 'fulfilled' ? server.value.runId : '';
  const failed = (error: unknown): Vote => ({ member, runId, outcome: 'failed', hold: null, error });
  if (taking.status === 'rejected') return failed(taking.reason);
  const hold = taking.value;
  if (server.status === 'rejected') {
    // Also where the lock looked busy: a call of this process that waits for the server looks so too.
    void hold?.[Symbol.asyncDispose]();
    return failed(server.reason);
  }
  if (hold === null) return { member, runId, outcome: 'busy', hold };
  const longestMs = Math.max(soughtMs, runtime.watchdogMs);
  if (isEntered || !mayHaveForgotten(server.value.uptimeSeconds, longestMs)) {
    return { member, runId, outcome: 'held', hold };
  }
  void hold[Symbol.asyncDispose]();
  const why = 'It restarted a moment ago and may have forgotten a hold that is still running';
  return { ...failed(new Error(why)), abstains: true };
}
