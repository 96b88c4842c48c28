/**
 * What a script started with `spawnChild` uses: one JSON object a line, out and in.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { inheritPassing } from './passing.ts';

inheritPassing();

/** Tells the test; written before this returns, so that a kill right after loses nothing. */
export function tell(message: Record<string, unknown>): void {
  writeSync(1, `${JSON.stringify(message)}\n`);
}

/** Calls `act` for every message of the test, and ends this process when the test's process is gone. */
export function onOrder(act: (message: Record<string, unknown>) => void): void {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => act(JSON.parse(line) as Record<string, unknown>));
  lines.on('close', () => process.exit(0));
}
