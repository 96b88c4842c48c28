/** A Valkey GLIDE client whose configuration is out of reach: everything works, waiting polls, and that is told. */
import { GlideClient } from '@valkey/valkey-glide';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { glideConfig } from '../harness/valkey-glide.ts';
import { eventually } from '../harness/wait.ts';
import { subscribersOf } from './by-hand.ts';
import { closedAtEnd, forbidUnhandledRejections, throughIoredis } from './context.ts';

async function withoutConfiguration() {
  const config = glideConfig(sharedServer());
  const client = await GlideClient.createClient(config);
  onTestFinished(() => client.close());
  return { client: Object.assign(Object.create(client) as GlideClient, { config: undefined }), config };
}

/** Has the client wait for a lock that another one gives back; resolves to the warnings it gave. */
async function waitForLock(waiting: Holdfast): Promise<string[]> {
  const warnings: string[] = [];
  waiting.on('warning', ({ code, message }) => warnings.push(`${code}: ${message}`));
  const name = randomName();
  const hold = await (await throughIoredis.client()).getLock(name).lock();
  const waiter = waiting.getLock(name).lock();
  const raw = await openShared();
  // Either it is subscribed to the wake-up, or it has said that it cannot be.
  await eventually(async () => warnings.length > 0 || (await subscribersOf(raw, name)) === 1);
  await hold.unlock();
  await (await waiter).unlock();
  return warnings;
}

describe('Valkey GLIDE without its configuration', () => {
  forbidUnhandledRejections();

  it('waits by polling, and says what would help', async () => {
    const { client } = await withoutConfiguration();
    const warnings = await waitForLock(closedAtEnd(Holdfast.from(client)));
    expect(warnings).toEqual([
      expect.stringMatching(/^HOLDFAST_NO_SUBSCRIBE: .*Holdfast\.from\(\{ client, config \}\)/),
    ]);
  });

  it('is woken when the configuration is handed over', async () => {
    const warnings = await waitForLock(closedAtEnd(Holdfast.from(await withoutConfiguration())));
    expect(warnings).toEqual([]);
  });
});
