/** The record that says who a client is, when its writing fails or the server forgets it: no call notices. */
import { expect, it, vi } from 'vitest';
import type { Holdfast } from '../../src/index.ts';
import { clientRecordWrite } from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { arena, join, listenTo } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { runs } from './support/requests.ts';

vi.setConfig({ testTimeout: 60_000 });

const LABEL = 'billing, worker 7';
/** The record is written once a second, and lasts for three. */
const OPTIONS = { label: LABEL, watchdogMs: 3_000, commandTimeoutMs: 1_000 };
const PERIOD_MS = 1_000;

/** The label that others see of whoever holds the lock. */
async function labelSeen(observer: Holdfast, name: string): Promise<string | undefined> {
  const seen = await observer.inspect(name);
  const [holder] = seen !== null && 'holders' in seen ? seen.holders : [];
  return holder?.client?.label;
}

async function records(server: TestServer): Promise<string[]> {
  return (await server.command('KEYS', 'holdfast_client:*')) as string[];
}

describeWithProcess('the label of a client', () => {
  it.each(EACH_WAY)(
    'is there after the reply to its writing was lost, and nothing is said: %s',
    async (way) => {
      const { server, proxy } = await arena();
      const name = randomName();
      const client = await join(way, proxy, OPTIONS);
      const heard = listenTo(client);
      await client.capabilities();
      const swallowed = proxy.swallowReply(runs(clientRecordWrite));
      const hold = await client.getLock(name).lock();
      await swallowed;
      const observer = await join('Holdfast.connect', server);
      expect(await labelSeen(observer, name)).toBe(LABEL);
      // The next period writes it again.
      const [key = ''] = await records(server);
      const before = Number(await server.command('PEXPIRETIME', key));
      await eventually(async () =>
        expect(Number(await server.command('PEXPIRETIME', key))).toBeGreaterThan(before),
      );
      expect(hold.signal.aborted).toBe(false);
      expect([heard.warning, heard.error, heard.lost]).toEqual([[], [], []]);
      expect(await hold.unlock()).toBe(true);
      await client.close();
      expect(await records(server)).toEqual([]);
    },
  );

  it.each(EACH_WAY)('comes back when a request to write it never arrived: %s', async (way) => {
    const { server, proxy } = await arena();
    const name = randomName();
    const client = await join(way, proxy, OPTIONS);
    await client.capabilities();
    const request = proxy.holdRequest(runs(clientRecordWrite));
    const hold = await client.getLock(name).lock();
    await request.held;
    proxy.dropConnections();
    const observer = await join('Holdfast.connect', server);
    await eventually(async () => expect(await labelSeen(observer, name)).toBe(LABEL));
    expect(await hold.unlock()).toBe(true);
  });

  it.each(EACH_WAY)('comes back at a server that was restarted empty: %s', async (way) => {
    const { server } = await arena();
    const client = await join(way, server, OPTIONS);
    const { warning, error } = listenTo(client);
    await client.getLock(randomName()).lock();
    await eventually(async () => expect(await records(server)).toHaveLength(1));
    await server.kill();
    await server.restart();
    expect(await records(server)).toEqual([]);
    const name = randomName();
    const hold = await eventually(() => client.getLock(name).lock());
    const observer = await join('Holdfast.connect', server);
    await eventually(async () => expect(await labelSeen(observer, name)).toBe(LABEL), {
      withinMs: 4 * PERIOD_MS,
    });
    expect(await hold.unlock()).toBe(true);
    expect([warning, error]).toEqual([[], []]);
  });
});
