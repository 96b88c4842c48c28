/**
 * Watches a hold while a command runs, and stops the command in time when the hold runs out. `retreat.ts` says when.
 */
import type { Grant } from './grant.ts';
import { type Retreat, stepAt } from './retreat.ts';

/** What is stopped. */
export interface Stoppable {
  /** Settles when the command has ended. */
  readonly exited: Promise<unknown>;
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** The longest delay of a timer in Node.js. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Resolves when the command has ended, to whether it was stopped because of the hold.
 *
 * @param onStop called once, before the first signal
 */
export async function supervise(
  grant: Grant,
  child: Stoppable,
  retreat: Retreat,
  onStop: (remainingMs: number) => void,
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  let toldAt: number | undefined;
  let isStopped = false;
  const look = () => {
    clearTimeout(timer);
    // Reading it checks the clock: a hold past its deadline has nothing left, even if no timer has run.
    const { remainingMs } = grant;
    const { signal, nextMs } = stepAt(retreat, remainingMs, toldAt && performance.now() - toldAt);
    if (signal !== null) {
      if (!isStopped) onStop(remainingMs);
      isStopped = true;
      toldAt ??= performance.now();
      child.signal(signal);
    }
    if (nextMs !== Number.POSITIVE_INFINITY) timer = setTimeout(look, Math.min(nextMs, LONGEST_TIMER_MS));
  };
  // A loss without notice does not wait for the timer.
  grant.signal.addEventListener('abort', look);
  look();
  try {
    await child.exited;
    return isStopped;
  } finally {
    clearTimeout(timer);
    grant.signal.removeEventListener('abort', look);
  }
}
