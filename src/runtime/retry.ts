/**
 * Repeats an idempotent call until it is answered or its time is over.
 *
 * Every script of ours may run twice without changing more than once, so after a lost reply the call is
 * sent again with the same arguments.
 */

import { type Clock, serverTime } from '../clock.ts';
import type { Driver } from '../drivers/driver.ts';
import { classify, errorOfAll, mayHaveRun, unanswered } from '../outcome.ts';
import { Backoff } from './backoff.ts';

/** The caller of a retried call: the runtime of a client, or what speaks to the server for it. */
export interface Retrying {
  readonly clock: Clock;
  /** How long a call is repeated. */
  readonly commandTimeoutMs: number;
  readonly driver?: Pick<Driver, 'condition'>;
}

/**
 * Settles within `budgetMs`: with the answer, or else with `OutcomeUnknownError` if an attempt may have run or is
 * under way, and with `DriverError` if none can have run. Time in which the machine is suspended counts: the server
 * forgets answers meanwhile.
 */
export function retry<T>(
  caller: Retrying,
  what: string,
  call: () => Promise<T>,
  budgetMs = caller.commandTimeoutMs,
): Promise<T> {
  return repeat(caller, budgetMs, what, call);
}

/**
 * The same for a single command that has just been sent. The driver's time-out bounds that command, so nothing is set
 * up unless it fails; `callAfter` then returns the call to repeat in the rest of the budget.
 */
export function retryCommand<T>(
  caller: Retrying,
  what: string,
  sent: Promise<T>,
  callAfter: (error: unknown) => () => Promise<T>,
): Promise<T> {
  const { clock, commandTimeoutMs } = caller;
  const endsAt = serverTime(clock) + commandTimeoutMs;
  return sent.catch((error: unknown) => {
    const leftMs = endsAt - serverTime(clock);
    if (leftMs <= 0) throw errorOfAll(error, mayHaveRun(error), what);
    return repeat(caller, leftMs, what, callAfter(error), { error });
  });
}

function repeat<T>(
  { clock, driver }: Retrying,
  budgetMs: number,
  what: string,
  call: () => Promise<T>,
  failed?: { readonly error: unknown },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const backoff = new Backoff(20, 500);
    const endsAt = serverTime(clock) + budgetMs;
    let lastError: unknown;
    let inDoubt = false;
    let over = false;
    const fail = (error: unknown) => {
      over = true;
      cancelTimer();
      reject(error);
    };
    const cancelTimer = clock.after(budgetMs, () => {
      if (!inDoubt) return fail(errorOfAll(lastError, false, what));
      fail(unanswered(what, `the server did not answer within ${budgetMs} ms`, driver, lastError));
    });
    const attempt = () => {
      if (over) return;
      if (serverTime(clock) >= endsAt) return fail(errorOfAll(lastError, inDoubt, what));
      const wasInDoubt = inDoubt;
      inDoubt = true;
      call().then(
        (value) => {
          cancelTimer();
          resolve(value);
        },
        (error) => afterFailure(error, wasInDoubt),
      );
    };
    const afterFailure = (error: unknown, wasInDoubt: boolean) => {
      if (over) return;
      const outcome = classify(error);
      inDoubt = wasInDoubt || outcome === 'unknown';
      if (outcome === 'refused') return fail(errorOfAll(error, inDoubt, what));
      lastError = error;
      clock.inBackground(backoff.next(), attempt);
    };
    if (failed === undefined) attempt();
    else afterFailure(failed.error, false);
  });
}
