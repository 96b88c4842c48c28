/** The server programs of a run. */
import { findServerBinary } from '../src/testing/index.ts';
import { isAtHand, otherServer } from '../tests/harness/other-servers.ts';
import type { ServerName } from './plan.ts';

/**
 * Finds the programs. Only CI downloads what is missing, and fails without it; elsewhere `say` is told which servers
 * are left out.
 */
export async function findServers(say: (text: string) => void): Promise<Map<ServerName, string>> {
  const { CI = '' } = process.env;
  const found = new Map<ServerName, string>();
  const redis = findServerBinary();
  if (redis !== null) found.set('redis-7', redis);
  else if (CI !== '') throw new Error('No redis-server on PATH: on CI no storm is left out');
  else say('No redis-server on PATH: the storms on redis-7 are left out.');
  if (isAtHand('valkey-8.1')) found.set('valkey-8', await otherServer('valkey-8.1'));
  else say('No Valkey 8, which is downloaded on CI only: the storms on valkey-8 are left out.');
  if (found.size === 0)
    throw new Error('Install redis-server or valkey-server: there is nothing to run storms on');
  return found;
}
