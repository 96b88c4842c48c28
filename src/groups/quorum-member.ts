/**
 * How one server of a red lock votes: it grants the lock, reports it busy, or fails to answer in time.
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

/** A server gets this share of the lease to answer, within bounds: a dead server must not use up the lease. */
const ANSWER_SHARE = 1 / 20;
const ANSWER_LEAST_MS = 50;
const ANSWER_MOST_MS = 1_000;
/** The largest share of a very short lease that an answer may take. */
const ANSWER_MOST_SHARE = 1 / 4;

export interface Vote {
  readonly member: ProtocolLock;
  readonly outcome: ServerOutcome['outcome'];
  readonly hold: LockHold | null;
  /** The run id of the server; empty when the server did not report it. */
  readonly runId: string;
  readonly error?: unknown;
  /** The server answered, but its vote does not count yet. */
  readonly abstains?: boolean;
}

/** Runtimes whose server was asked for its run id and had its time to answer. */
const identified = new WeakSet<Runtime>();

export function isIdentified({ context }: ProtocolLock): boolean {
  return identified.has(context.runtime);
}

/** The member shares its server with another: the next round must wait for its run id again. */
export function mistrust({ context }: ProtocolLock): void {
  identified.delete(context.runtime);
}

function answerMs(leaseMs: number): number {
  const share = Math.min(Math.max(leaseMs * ANSWER_SHARE, ANSWER_LEAST_MS), ANSWER_MOST_MS);
  return Math.min(share, leaseMs * ANSWER_MOST_SHARE);
}

/** A signal that aborts with the given one, or when the time for an answer is over. Must be disposed. */
class Limit implements Disposable {
  readonly #controller = new AbortController();
  readonly #forget: (() => void)[];

  constructor(clock: Clock, limitMs: number, signal: AbortSignal) {
    const cancel = clock.after(limitMs, () => {
      // A blocked event loop may have left answers unread: it reads them before it runs this callback.
      setImmediate(() => {
        this.#controller.abort(new Error(`The server did not answer within ${Math.round(limitMs)} ms`));
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
    throw toHoldfastError(error, `identify the server of "${key}"`);
  });
  return (await waitBudget.wait(asked)) as Identity;
}

/**
 * The uptime is the difference of two times in whole seconds, and may be up to a second more than has passed.
 * A server that does not report its uptime counts as one that has forgotten nothing.
 */
function mayHaveForgotten(uptimeSeconds: string, longestLeaseMs: number): boolean {
  return uptimeSeconds !== '' && (Number(uptimeSeconds) - 1) * 1_000 < longestLeaseMs;
}

/** Asks one server, for the given owner or a new one. Settles in time, and never rejects. */
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
  // The server has not forgotten a hold that the owner re-entered. After a release, a new tenure began.
  const isEntered = held !== undefined && owner?.tenureOf(identity) === held;
  // Asked after the grant, so that the process that answers is the one that granted the lock, or a younger one.
  const [server] = await Promise.allSettled([identify(runtime, key, limit.signal)]);
  identified.add(runtime);
  const runId = server.status === 'fulfilled' ? server.value.runId : '';
  const failed = (error: unknown): Vote => ({ member, runId, outcome: 'failed', hold: null, error });
  if (taking.status === 'rejected') return failed(taking.reason);
  const hold = taking.value;
  if (server.status === 'rejected') {
    // Even if the lock looked busy: it also looks busy while another call of this process waits for the server.
    void hold?.[Symbol.asyncDispose]();
    return failed(server.reason);
  }
  if (hold === null) return { member, runId, outcome: 'busy', hold };
  const longestMs = Math.max(soughtMs, runtime.watchdogMs);
  if (isEntered || !mayHaveForgotten(server.value.uptimeSeconds, longestMs)) {
    return { member, runId, outcome: 'held', hold };
  }
  void hold[Symbol.asyncDispose]();
  const why = 'The server restarted a moment ago and may have forgotten a hold whose lease is still running';
  return { ...failed(new Error(why)), abstains: true };
}
