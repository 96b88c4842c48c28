/** What is seen of faults of single servers: their processes, data, memory, clocks and rights. */
import { expect } from 'vitest';
import type { TestServer } from '../../../src/testing/index.ts';
import { randomName } from '../../harness/names.ts';
import { isRunning } from '../../harness/processes.ts';
import { answerOf, infoOf } from '../../harness/server-answers.ts';
import { eventually } from '../../harness/wait.ts';
import { isRefused, isSilent, type Observation, oneOf, open } from './sight.ts';

type Looks = (server: TestServer) => Promise<boolean>;

/** After the start, one of the servers looks like this. */
function oneLooks(looks: Looks, withinMs?: number): Observation {
  return async ({ stage, start }) => {
    await start();
    await oneOf(stage.servers, looks, withinMs);
  };
}

/** A new connection is refused this. */
function refuses(error: RegExp, ...command: [string, ...(string | number)[]]): Observation {
  return oneLooks(async (server) => isRefused(await open(server), error, ...command));
}

const isFrozen: Looks = async (server) => isSilent((await open(server)).command('PING'));

/** Where a key belongs in a Cluster depends on its name; these go wherever they are sent. */
async function write(server: TestServer, value: string): Promise<boolean> {
  return server.command('SET', 'nemesis:seen', value).then(
    () => true,
    () => false,
  );
}

async function read(server: TestServer): Promise<unknown> {
  return answerOf(server, 'GET', 'nemesis:seen').catch(() => undefined);
}

async function primaryOf({ stage }: Parameters<Observation>[0]): Promise<TestServer> {
  return (await stage.primaries())[0] as TestServer;
}

/** Another process answers on the same port. */
const restarted: Observation = async ({ stage, start }) => {
  const before = stage.servers.map(({ pid }) => pid);
  for (const server of stage.servers) await write(server, 'before');
  await start();
  const server = await oneOf(stage.servers, async (one) => before[stage.servers.indexOf(one)] !== one.pid);
  expect(before.some(isRunning)).toBe(stage.servers.length > 1);
  // Unless it follows another one by now, which it has its data from.
  const role = (await infoOf(server, 'replication'))?.get('role');
  if (role === 'master') expect(await server.command('DBSIZE')).toBe(0);
};

/** What was there before the start is there after the restart, what came after it is not. */
const restartedWithOlderData: Observation = async (sight) => {
  const server = await primaryOf(sight);
  const { pid } = server;
  await server.command('SET', 'nemesis:older', 'kept');
  await sight.start();
  await write(server, 'forgotten');
  await server.command('SET', 'nemesis:younger', 'forgotten');
  await sight.stop();
  expect(server.pid).not.toBe(pid);
  expect(await server.command('GET', 'nemesis:older')).toBe('kept');
  expect(await server.command('GET', 'nemesis:younger')).toBeNull();
};

const awayWithData: Observation = async (sight) => {
  const server = await primaryOf(sight);
  await write(server, 'kept');
  await sight.start();
  expect(isRunning(server.pid)).toBe(false);
  await sight.stop();
  expect(await read(server)).toBe('kept');
};

const flushed: Observation = async ({ stage, start }) => {
  const written: TestServer[] = [];
  for (const server of await stage.primaries()) {
    for (let key = 0; key < 30; key += 1) {
      await server.command('SET', randomName(), 'x', 'PX', 60_000).catch(() => undefined);
    }
    if (Number(await server.command('DBSIZE')) > 0) written.push(server);
  }
  expect(written.length).toBeGreaterThan(0);
  await start();
  await oneOf(written, async (server) => (await server.command('DBSIZE')) === 0);
};

const scriptsFlushed: Observation = async ({ stage, start }) => {
  await start();
  for (const server of await stage.primaries()) {
    const sha1 = String(await server.command('SCRIPT', 'LOAD', 'return 1'));
    const isGone = async () =>
      Number(((await server.command('SCRIPT', 'EXISTS', sha1)) as number[])[0]) === 0;
    await eventually(isGone);
  }
};

const evicted: Observation = async ({ stage, start }) => {
  for (const server of await stage.primaries()) {
    for (let key = 0; key < 100; key += 1) {
      await server.command('SET', randomName(), 'x'.repeat(100), 'PX', 60_000).catch(() => undefined);
    }
  }
  await start();
  await oneOf(
    stage.servers,
    async (server) => Number((await infoOf(server, 'stats'))?.get('evicted_keys')) > 0,
  );
};

/** The clock of one server is off by more than a lease, in this direction. */
function clockIsOff(sign: 1 | -1): Observation {
  return oneLooks(async (server) => {
    const [seconds] = (await server.command('TIME')) as string[];
    return (Number(seconds) * 1_000 - Date.now()) * sign > 900;
  });
}

const hasReader: Looks = async (server) => {
  const info = await infoOf(server, 'replication');
  const expected = info?.get('role') === 'master' && /port=(0|6379),/.test([...info.values()].join());
  return expected === true;
};

export const SERVER_SIGHTS: Readonly<Record<string, Observation>> = {
  'server-stopped': oneLooks(isFrozen),
  'server-stopped-briefly': oneLooks(isFrozen),
  'server-busy': refuses(/^BUSY/, 'DBSIZE'),
  'server-restarted-empty': restarted,
  'server-restarted-from-snapshot': restartedWithOlderData,
  'server-restarted-from-cut-log': restartedWithOlderData,
  'server-away-with-data': awayWithData,
  'data-flushed': flushed,
  'scripts-flushed': scriptsFlushed,
  'memory-full': oneLooks(async (server) => {
    const refuse = (slot: string) => isRefused(server, /^OOM/, 'SET', `{${slot}}`, 'x');
    // In a Cluster, whichever of them is at home there.
    for (const slot of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) if (await refuse(slot)) return true;
    return false;
  }),
  'locks-evicted': evicted,
  'server-clock-ahead': clockIsOff(1),
  'server-clock-behind': clockIsOff(-1),
  'channels-forbidden': refuses(/^NOPERM/, 'SUBSCRIBE', 'news'),
  'keys-forbidden': refuses(/^NOPERM/, 'GET', 'nemesis:seen'),
  'keys-read-only': async (sight) => {
    await refuses(/^NOPERM/, 'SET', 'nemesis:seen', 'x')(sight);
    for (const server of sight.stage.servers) await server.command('GET', 'nemesis:seen');
  },
  'info-forbidden': refuses(/^NOPERM/, 'INFO', 'server'),
  'wait-forbidden': refuses(/^NOPERM/, 'WAIT', 0, 1),
  'password-changed': refuses(/^NOAUTH/, 'PING'),
  'silent-reader': oneLooks(hasReader),
};
