/** A failover on request that leaves the old primary in office for long. */
import { RawConnection, type TestServer } from '../../src/testing/index.ts';
import type { TestSentinels } from '../../tests/harness/sentinels.ts';
import { eventually } from '../../tests/harness/wait.ts';

/** Sentinels demote the old primary after four times this. */
const PUBLISH_MS = 10_000;

/** Tells the first of the Sentinels to fail over; resolves to the new primary when that one has published the switch. */
export async function switchPrimary({ sentinels, servers, name }: TestSentinels): Promise<TestServer> {
  const [first] = sentinels;
  if (first === undefined) throw new Error('There is no Sentinel');
  for (const sentinel of sentinels) {
    await sentinel.command('SENTINEL', 'DEBUG', 'publish-period', PUBLISH_MS);
  }
  const listener = await RawConnection.connect(first.host, first.port);
  try {
    await listener.subscribe('+switch-master');
    const published = listener.nextMessage();
    // Refused when the Sentinel has not heard of a good replica lately.
    await eventually(() => first.command('SENTINEL', 'FAILOVER', name));
    const port = Number((await published).message.split(' ')[4]);
    const promoted = servers.find((server) => server.port === port);
    if (promoted === undefined) throw new Error(`No server of ours listens on ${port}`);
    return promoted;
  } finally {
    await listener.close();
  }
}
