/**
 * Asks a person before something that cannot be undone.
 */
import { createInterface } from 'node:readline/promises';
import { UsageError } from './failure.ts';

/** Whether a person can be asked: both their keyboard and their screen are there. */
function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/**
 * Refuses where nobody can be asked. To be called before anything is done.
 *
 * @throws UsageError
 */
export function assertConfirmable(isSure: boolean, what: string): void {
  if (!isSure && !canAsk())
    throw new UsageError(`${what} needs a confirmation: use --yes without a terminal`);
}

/** Whether the person said yes. Asks on stderr: stdout is for results. */
export async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const gone = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    const answer = await Promise.race([lines.question(`${question} [y/N] `), gone]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
