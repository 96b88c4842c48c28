/** The server programs of a run. */
import { findServerBinary } from '../src/testing/index.ts';
import { otherServer } from '../tests/harness/other-servers.ts';
import type { ServerName } from './plan.ts';

/** Finds or downloads the programs. A server that cannot be had is left out, and `say` is told. */
export async function findServers(say: (text: string) => void): Promise<Map<ServerName, string>> {
  const found = new Map<ServerName, string>();
  const redis = findServerBinary();
  if (redis !== null) found.set('redis-7', redis);
  else say('No redis-server on PATH: the storms that need it are left out.');
  try {
    found.set('valkey-8', await otherServer('valkey-8.1'));
  } catch (error) {
    say(
      `No Valkey 8 (${error instanceof Error ? error.message : String(error)}): the storms that need it are left out.`,
    );
  }
  if (found.size === 0)
    throw new Error('Install redis-server or valkey-server: there is nothing to run storms on');
  return found;
}
