/** Readers that are slow: they cost no memory, get the newest state, and are dropped when they read nothing. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { EventReader } from './support/event-reader.ts';
import { asked, connect, ownDashboard } from './support/own-dashboard.ts';

const OWNER = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455';

/** So many locks that their rows are larger than what may wait for a reader. */
const LOCKS = 1_000;

const TAKE_ALL = `for i = 1, ${LOCKS} do
  redis.call('HSET', 'lock:' .. i, ARGV[1] .. ':' .. i, ARGV[2])
  redis.call('PEXPIRE', 'lock:' .. i, 600000)
end`;

async function setUp(limits: { stalledMs?: number; streams?: number }) {
  const server = await ownServer();
  const client = await connect(server.url);
  const dashboard = await ownDashboard(client, { maxCommandsPerSecond: 20_000 }, { limits });
  const takeAll = (holdCount: number) => server.command('EVAL', TAKE_ALL, '0', OWNER, String(holdCount));
  await takeAll(1);
  const fast = new EventReader(await dashboard.fetch(asked('api/stream')));
  onTestFinished(() => fast.close());
  await eventually(() => fast.rows.size === LOCKS, { withinMs: 20_000 });
  return { dashboard, takeAll, fast };
}

describe('a dashboard with many locks', () => {
  describeWithProcess('and a slow reader', () => {
    it('drops one that reads nothing, and goes on for others', async () => {
      const { dashboard, takeAll, fast } = await setUp({ stalledMs: 300, streams: 2 });
      const stuck = await dashboard.fetch(asked('api/stream'));
      await eventually(async () => (await dashboard.fetch(asked('api/stream', { method: 'HEAD' }))).ok);
      const reader = stuck.body?.getReader();
      // The place of the dropped stream is free again.
      await eventually(
        async () => {
          const next = await dashboard.fetch(asked('api/stream'));
          await next.body?.cancel();
          return next.status === 200;
        },
        { withinMs: 10_000 },
      );
      await expect(
        (async () => {
          while ((await reader?.read())?.done !== true);
        })(),
      ).rejects.toThrow('The reader is too slow');
      await takeAll(2);
      await fast.row('lock:1', ({ holders }) => holders[0]?.holdCount === 2);
    });

    it('gives the newest state of what changed to one that was away', async () => {
      const { dashboard, takeAll, fast } = await setUp({ stalledMs: 60_000 });
      const response = await dashboard.fetch(asked('api/stream'));
      for (const holdCount of [2, 3, 4]) {
        await takeAll(holdCount);
        await fast.row('lock:1000', ({ holders }) => holders[0]?.holdCount === holdCount);
        await fast.row('lock:1', ({ holders }) => holders[0]?.holdCount === holdCount);
      }
      const late = new EventReader(response);
      onTestFinished(() => late.close());
      await late.row('lock:1', ({ holders }) => holders[0]?.holdCount === 4);
      const told = late.all('locks').flatMap(({ changed }) => changed.filter(({ key }) => key === 'lock:1'));
      expect(told.map(({ holders }) => holders[0]?.holdCount)).toEqual([1, 4]);
    });
  });
});
