/**
 * What a server was made to do, by its own count. For a server that only the test uses.
 */
import type { TestServer } from '../../../src/testing/index.ts';

/** What the counting itself sends. */
const OWN = ['config|resetstat', 'info'];

/** Starts counting from nothing. */
export async function resetCounts(server: TestServer): Promise<void> {
  await server.command('CONFIG', 'RESETSTAT');
}

/** Calls of each command since then, those made by scripts included. */
export async function commandCounts(server: TestServer): Promise<Map<string, number>> {
  const info = String(await server.command('INFO', 'commandstats'));
  const counts = new Map<string, number>();
  for (const [, command = '', calls] of info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    if (!OWN.includes(command)) counts.set(command, Number(calls));
  }
  return counts;
}

export async function totalCommands(server: TestServer): Promise<number> {
  let total = 0;
  for (const calls of (await commandCounts(server)).values()) total += calls;
  return total;
}
