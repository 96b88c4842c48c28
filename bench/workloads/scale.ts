/**
 * Many holds, many waiters, many locks that are waited for: only holdfast's own figures, against its goals.
 */
import { holdfastOnIoredis } from '../contestants/holdfast.ts';
import { A_CORE_EACH, type Stage } from '../machine/stage.ts';
import type { Player } from '../players/player.ts';
import type { DrainAnswer, HeapAnswer, ObserveAnswer } from '../players/scale/scale.ts';
import { BYTES, CLIENT_SHARE, DRAIN, LAG, SERVER_SHARE } from './columns.ts';
import type { Workload } from './workload.ts';

const WAITERS = 10_000;

const HELD_BY_ANOTHER = `for i = 0, tonumber(ARGV[1]) do
  redis.call('HSET', 'wait:' .. i, 'another:1', 1)
  redis.call('PEXPIRE', 'wait:' .. i, 3600000)
end`;

/** What a client and its server do while the program does nothing. */
async function observe(stage: Stage, player: Player, ms: number) {
  const before = await stage.serverCpuUs();
  const startedAt = performance.now();
  const { cpu, worstLagMs } = await player.order<ObserveAnswer>({ op: 'observe', ms });
  const serverMs = ((await stage.serverCpuUs()) - before) / 1_000;
  const server = serverMs / (performance.now() - startedAt);
  return { clientPercent: cpu * 100, serverPercent: server * 100, lagMs: worstLagMs };
}

const contestants = [holdfastOnIoredis];

export const holds: Workload = {
  id: 'holds',
  title: '100,000 holds in one process, renewed every 10 s (quick: 10,000, every second)',
  contestants,
  columns: [BYTES, CLIENT_SHARE, SERVER_SHARE, LAG],
  async measure(stage, contestant, { holds: count, watchdogMs, renewalsMs }) {
    const player = await stage.enter(contestant, A_CORE_EACH);
    const { bytesEach } = await player.order<HeapAnswer>({ op: 'hold', count, watchdogMs });
    return { bytesEach, ...(await observe(stage, player, renewalsMs)) };
  },
};

export const waiters: Workload = {
  id: 'waiters',
  title: '10,000 waiters of one process on one lock',
  contestants,
  columns: [BYTES, DRAIN],
  async measure(stage, contestant) {
    const player = await stage.enter(contestant, A_CORE_EACH);
    const { bytesEach, drainMs } = await player.order<DrainAnswer>({ op: 'drain', count: WAITERS });
    return { bytesEach, drainMs };
  },
};

export const waitedFor: Workload = {
  id: 'waited-for',
  title: '10,000 locks that one process waits for',
  contestants,
  columns: [BYTES, CLIENT_SHARE],
  async measure(stage, contestant, { idleMs }) {
    await stage.server.command('EVAL', HELD_BY_ANOTHER, '0', String(WAITERS));
    const player = await stage.enter(contestant, A_CORE_EACH);
    const { bytesEach } = await player.order<HeapAnswer>({ op: 'wait', count: WAITERS });
    return { bytesEach, ...(await observe(stage, player, idleMs)) };
  },
};
