/** A failover on request that leaves the old primary in office for long. */

import type { TestServer } from '../../src/testing/index.ts';
import type { TestSentinels } from './sentinels.ts';
import { openRaw } from './servers.ts';
import { eventually } from './wait.ts';

/** Sentinels demote the old primary after four times this. */
const PUBLISH_MS = 10_000;

export interface Switch {
  readonly promoted: TestServer;
  /** When it was asked for, by the wall clock. */
  readonly askedAt: number;
}

/** Tells the first of the Sentinels to fail over; resolves when that one has published the switch. */
export async function switchPrimary(watched: TestSentinels, [first] = watched.sentinels): Promise<Switch> {
  if (first === undefined) throw new Error('There is no Sentinel');
  for (const sentinel of watched.sentinels) {
    // One that is dead need not be told.
    await sentinel.command('SENTINEL', 'DEBUG', 'publish-period', PUBLISH_MS).catch(() => undefined);
  }
  const listener = await openRaw(first.host, first.port);
  await listener.subscribe('+switch-master');
  const published = listener.nextMessage();
  const askedAt = Date.now();
  // Refused when the Sentinel has not heard of a good replica lately.
  await eventually(() => first.command('SENTINEL', 'FAILOVER', watched.name));
  const port = Number((await published).message.split(' ')[4]);
  const promoted = watched.servers.find((server) => server.port === port);
  if (promoted === undefined) throw new Error(`No server of ours listens on ${port}`);
  return { promoted, askedAt };
}
