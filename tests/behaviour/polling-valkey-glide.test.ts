/** A Valkey GLIDE client whose configuration is out of reach: everything works, waiting polls, and that is told. */
import { GlideClient } from '@valkey/valkey-glide';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openShared, sharedServer } from '../harness/servers.ts';
import { ownReplicas } from '../harness/topologies.ts';
import { glideConfig } from '../harness/valkey-glide.ts';
import { eventually } from '../harness/wait.ts';
import { subscribersOf } from './support/by-hand.ts';
import { closedAtEnd, forbidUnhandledRejections, throughIoredis } from './support/context.ts';

async function withoutConfiguration(place: { host: string; port: number } = sharedServer()) {
  const config = glideConfig(place);
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

  it('waits by polling, and warns what would help', async () => {
    const { client } = await withoutConfiguration();
    const warnings = await waitForLock(closedAtEnd(Holdfast.from(client)));
    expect(warnings).toEqual([
      expect.stringMatching(/^HOLDFAST_NO_SUBSCRIBE: .*Holdfast\.from\(\{ client, config \}\)/),
    ]);
  });

  it('is woken if the configuration is passed', async () => {
    const warnings = await waitForLock(closedAtEnd(Holdfast.from(await withoutConfiguration())));
    expect(warnings).toEqual([]);
  });
});

describeWithProcess('Valkey GLIDE without its configuration, where there is a replica', () => {
  forbidUnhandledRejections();

  it('is granted locks without acknowledgements, and warns once what would help', async () => {
    const { primary } = await ownReplicas({ replicas: 1 });
    const { client } = await withoutConfiguration(primary);
    const locks = closedAtEnd(Holdfast.from(client));
    const warnings: string[] = [];
    locks.on('warning', ({ code, message }) => warnings.push(`${code}: ${message}`));
    for (const name of [randomName(), randomName()]) {
      expect(await (await locks.getLock(name).lock()).unlock()).toBe(true);
    }
    expect((await locks.capabilities()).replicas).toMatchObject({
      connected: 1,
      required: 0,
      obstacle: expect.stringContaining('Holdfast.from({ client, config })'),
    });
    expect(warnings).toEqual([
      expect.stringMatching(/^HOLDFAST_NO_REPLICAS: .*Holdfast\.from\(\{ client, config \}\)/),
    ]);
  });

  it('is granted no lock if replicas are required', async () => {
    const { primary } = await ownReplicas({ replicas: 1 });
    const { client } = await withoutConfiguration(primary);
    const name = randomName();
    const locks = closedAtEnd(Holdfast.from(client, { replicas: 1 }));
    locks.on('warning', () => {});
    await expect(locks.getLock(name).lock()).rejects.toMatchObject({
      code: 'ERR_DRIVER',
      message: expect.stringContaining('Holdfast.from({ client, config })'),
    });
    expect(await primary.command('EXISTS', name)).toBe(0);
  });

  it('gets acknowledgements if the configuration is passed', async () => {
    const { primary } = await ownReplicas({ replicas: 1 });
    const locks = closedAtEnd(Holdfast.from(await withoutConfiguration(primary), { replicas: 1 }));
    const hold = await locks.getLock(randomName()).lock();
    expect((await locks.capabilities()).replicas).toMatchObject({ required: 1, obstacle: null });
    expect(await hold.unlock()).toBe(true);
  });
});
