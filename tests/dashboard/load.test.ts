/** What looking costs the server, counted by the server itself. */
import { expect, it } from 'vitest';
import type { TestServer } from '../../src/testing/index.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { connect, ownDashboard, watch } from './support/own-dashboard.ts';

const OWNER = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455';

const LOCKS = `for i = 1, tonumber(ARGV[1]) do
  redis.call('HSET', 'lock:' .. i, ARGV[2] .. ':' .. i, 1)
  redis.call('PEXPIRE', 'lock:' .. i, 600000)
end`;

/** Data of an application, of every type. */
const OTHERS = `for i = 1, tonumber(ARGV[1]) do
  redis.call('SET', 'cache:' .. i, '{"a":' .. i .. '}', 'PX', 600000)
  redis.call('HSET', 'user:' .. i, 'name', 'x', 'age', i)
  redis.call('RPUSH', 'list:' .. i, 'a')
  redis.call('ZADD', 'scores:' .. i, i, 'a')
end`;

/** How many commands clients sent to look at locks: those inside of scripts are not theirs. */
async function sent(server: TestServer): Promise<number> {
  const info = String(await server.command('INFO', 'commandstats'));
  const calls = ['scan', 'evalsha', 'eval'].map((name) => {
    return Number(new RegExp(`^cmdstat_${name}:calls=(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  });
  return calls.reduce((sum, one) => sum + one, 0);
}

/** By the server's clock, in seconds. */
async function now(server: TestServer): Promise<number> {
  const [seconds, micros] = (await server.command('TIME')) as string[];
  return Number(seconds) + Number(micros) / 1e6;
}

describeWithProcess('a dashboard of 10,000 locks', () => {
  it('shows all of them, and sends no more commands than it may', { timeout: 150_000 }, async () => {
    const server = await ownServer();
    await server.command('EVAL', LOCKS, '0', '10000', OWNER);
    const client = await connect(server.url);
    const perSecond = 2_000;
    const dashboard = await ownDashboard(client, { maxCommandsPerSecond: perSecond });
    const [before, startedAt] = [await sent(server), await now(server)];
    const page = await watch(dashboard);
    await eventually(() => page.rows.size === 10_000, { withinMs: 60_000 });
    // A lock that is new is found although all others are due for a look.
    await server.command('HSET', 'lock:new', `${OWNER}:1`, '1');
    await page.row('lock:new');
    await server.command('DEL', 'lock:17');
    await eventually(() => !page.rows.has('lock:17'), { withinMs: 60_000 });
    const [after, endedAt] = [await sent(server), await now(server)];
    // Health is asked beside it.
    const allowed = (perSecond + 2) * (endedAt - startedAt) + 5;
    expect(after - before).toBeLessThanOrEqual(allowed);
    expect(after - before).toBeGreaterThan(10_000);
    const load = await page.next('load', ({ keys, sweepMs }) => sweepMs !== null && keys >= 10_000);
    expect(load.commandsPerSecond).toBeGreaterThan(0);
    for (const { commandsPerSecond } of page.all('load'))
      expect(commandsPerSecond).toBeLessThanOrEqual(perSecond);
  });

  it('needs few commands for keys that are no locks', async () => {
    const server = await ownServer();
    await server.command('EVAL', OTHERS, '0', '5000');
    await server.command('EVAL', LOCKS, '0', '10', OWNER);
    const client = await connect(server.url);
    const dashboard = await ownDashboard(client);
    const before = await sent(server);
    const page = await watch(dashboard);
    const { keys } = await page.next('load', ({ sweepMs }) => sweepMs !== null, 20_000);
    const after = await sent(server);
    expect(keys).toBeGreaterThan(20_000);
    // A SCAN for 500 keys and a look at each hundred of them: 240, and what happens beside it.
    expect(after - before).toBeLessThan(1_000);
    expect(page.rows.size).toBe(10);
  });

  it('goes on slowly when nobody watches, and stops when it is closed', async () => {
    const server = await ownServer();
    await server.command('EVAL', LOCKS, '0', '500', OWNER);
    const client = await connect(server.url);
    const dashboard = await ownDashboard(client, { maxCommandsPerSecond: 1_000 });
    expect(await sent(server)).toBeLessThan(10);
    const page = await watch(dashboard);
    await eventually(() => page.rows.size === 500, { withinMs: 20_000 });
    await page.close();
    // What was asked for at full pace is answered.
    const rate = async () => {
      const [one, from] = [await sent(server), await now(server)];
      await eventually(async () => (await now(server)) - from > 2);
      return ((await sent(server)) - one) / ((await now(server)) - from);
    };
    await eventually(async () => (await rate()) < 60, { withinMs: 20_000 });
    dashboard.close();
    const [closed] = [await sent(server)];
    await eventually(async () => (await rate()) < 2, { withinMs: 10_000 });
    expect((await sent(server)) - closed).toBeLessThan(20);
  });
});
