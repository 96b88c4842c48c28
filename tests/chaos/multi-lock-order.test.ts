/** The order of locks that have one name on several servers, when a server is replaced while they are waited for. */
import { expect, it, onTestFinished } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, ownProxy, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

const KEPT_ON_DISK = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** What namesakes are put in order by; another one after every start. */
async function runIdOf(server: TestServer): Promise<string> {
  return /run_id:(\w+)/.exec(String(await server.command('INFO', 'server')))?.[1] ?? '';
}

async function restartUntil(server: TestServer, fits: (runId: string) => boolean): Promise<string> {
  for (;;) {
    await server.restart();
    const runId = await runIdOf(server);
    if (fits(runId)) return runId;
  }
}

async function connect({ host, port }: Address): Promise<Holdfast> {
  const client = await Holdfast.connect({ host, port }, { replicas: 0 });
  onTestFinished(() => client.close());
  return client;
}

describeWithProcess('a multi lock over two servers', () => {
  it('is granted in turn to two callers that found the servers in opposite orders, because one server was replaced', async () => {
    const [first, last] = [await ownServer({ args: KEPT_ON_DISK }), await ownServer({ args: KEPT_ON_DISK })];
    // In the middle: the other server gets an id before it and one behind it after a few starts.
    const middle = await restartUntil(last, (runId) => runId > '6' && runId < 'a');
    await restartUntil(first, (runId) => runId < middle);
    const proxy = await ownProxy(last);
    const name = randomName();
    const lockOn = async (server: Address) => (await connect(server)).getLock(name);
    const multiLock = async (...at: Address[]) => {
      const client = await connect(first);
      return client.getMultiLock(...(await Promise.all(at.map(lockOn))));
    };
    const holderOn = async (server: TestServer) => (await server.command('HKEYS', name)) as string[];

    const obstacle = await (await lockOn(last)).lock();
    const [early, late] = [await multiLock(first, proxy), await multiLock(first, last)];
    const earlyHold = early.lock();
    await eventually(async () => (await holderOn(first)).length === 1);
    await restartUntil(first, (runId) => runId > middle);
    // The late one begins with what the early one still waits for, and gets it: the other hears of it too late.
    const lateHold = late.lock();
    proxy.delay(1_500);
    await obstacle.unlock();
    await eventually(async () => (await holderOn(last)).length === 1);
    proxy.delay(0);

    const winner = await Promise.race([earlyHold, lateHold]);
    await winner.unlock();
    const holds = await Promise.all([earlyHold, lateHold]);
    for (const hold of holds) if (hold !== winner) await hold.unlock();
    expect(await holderOn(first)).toEqual([]);
    expect(await holderOn(last)).toEqual([]);
  }, 60_000);
});
