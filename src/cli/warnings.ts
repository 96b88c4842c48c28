/**
 * Warnings of the process, in one line each. Those of holdfast are shown by the commands that hold locks: to look at
 * locks, it does not matter whether the server is fit for them.
 */
import { messageOf } from './failure.ts';

let areShown = false;

/** From now on the warnings of holdfast are shown too. */
export function showWarnings(): void {
  areShown = true;
}

/** Replaces Node's own output, which has several lines and the process id. */
export function tellWarnings(): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name === 'HoldfastWarning' && !areShown) return;
    process.stderr.write(`holdfast: warning: ${messageOf(warning)}\n`);
  });
}
