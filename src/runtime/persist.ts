/**
 * Repeats a call whose repetition is harmless until it is answered or its time is over.
 *
 * Every script of ours may run twice without changing more than once, so a lost reply is answered by
 * asking again with the same arguments.
 */
import { classify, toHoldfastError } from '../drivers/outcome.ts';
import { OutcomeUnknownError } from '../errors.ts';
import { Backoff } from './backoff.ts';
import type { Clock } from './clock.ts';

/**
 * Settles within `budgetMs`: with the answer, with the server's refusal, or, when no answer could be had,
 * with `OutcomeUnknownError` if the call may have run and `DriverError` if it cannot have.
 */
export function persist<T>(clock: Clock, budgetMs: number, what: string, call: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const backoff = new Backoff(20, 500);
    let lastError: unknown;
    let mayHaveRun = false;
    let over = false;
    const giveUp = () => {
      over = true;
      if (mayHaveRun || lastError === undefined) {
        reject(new OutcomeUnknownError(`No answer within ${budgetMs} ms: ${what}`, { cause: lastError }));
      } else {
        reject(toHoldfastError(lastError, what));
      }
    };
    const cancelTimer = clock.after(budgetMs, giveUp);
    const attempt = () => {
      if (over) return;
      call().then(
        (value) => {
          cancelTimer();
          resolve(value);
        },
        (error) => {
          if (over) return;
          const outcome = classify(error);
          if (outcome === 'refused') {
            cancelTimer();
            reject(toHoldfastError(error, what));
            return;
          }
          lastError = error;
          mayHaveRun ||= outcome === 'unknown';
          clock.inBackground(backoff.next(), attempt);
        },
      );
    };
    attempt();
  });
}
