/** Who listens for wake-ups, by the server's count. */
import type { RawView } from '../../harness/cluster-connection.ts';
import { eventually } from '../../harness/wait.ts';

/** Far below the shortest time after which a waiter that heard nothing would look again by itself. */
export const WELL_BEFORE_POLL_MS = 2_000;

/** How many connections listen to a channel. */
export async function listenersOf(raw: RawView, channel: string): Promise<number> {
  const [, count] = (await raw.command('PUBSUB', 'NUMSUB', channel)) as [string, number];
  return Number(count);
}

/** Resolves when this many connections listen to a channel. */
export async function untilListening(raw: RawView, channel: string, connections = 1): Promise<void> {
  await eventually(async () => (await listenersOf(raw, channel)) === connections);
}
