/** What scenarios look up on a server, to know how far things have come. */
import { fairQueueKey, lockChannel, tombstoneKey } from '../../src/keys.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { eventually } from '../../tests/harness/wait.ts';

/** How many scripts the server has been asked to run. */
export async function scriptCalls(server: TestServer): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'));
  const calls = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Does something that makes the server run a script; resolves when it has. */
export async function untilScriptRan(server: TestServer, act: () => void): Promise<void> {
  const before = await scriptCalls(server);
  act();
  await eventually(async () => (await scriptCalls(server)) > before);
}

/** The keys of the answers that the server remembers about a name, and of the owners that it knows to be over. */
export async function remembered(server: TestServer, name: string): Promise<string[]> {
  return (await server.command('KEYS', `${tombstoneKey(name, '')}*`)) as string[];
}

/** As if the time for which the server remembers them had passed. */
export async function forget(server: TestServer, name: string): Promise<void> {
  const [first, ...others] = await remembered(server, name);
  if (first !== undefined) await server.command('DEL', first, ...others);
}

/** Resolves when the server knows that this owner's hold is over. */
export async function whenEnded(server: TestServer, name: string, owner: string): Promise<void> {
  await eventually(async () => (await server.command('EXISTS', tombstoneKey(name, owner))) === 1);
}

/** Resolves when so many listen to the releases of a lock. */
export async function whenHeard(server: TestServer, name: string, count = 1): Promise<void> {
  const channel = lockChannel(name);
  await eventually(
    async () => ((await server.command('PUBSUB', 'NUMSUB', channel)) as unknown[])[1] === count,
  );
}

/** The waiters of a fair lock, the head first. */
export async function queueOf(server: TestServer, name: string): Promise<string[]> {
  return (await server.command('LRANGE', fairQueueKey(name), 0, -1)) as string[];
}

/** Resolves to the waiters of a fair lock when they are that many. */
export async function whenQueued(server: TestServer, name: string, count: number): Promise<string[]> {
  return eventually(async () => {
    const queue = await queueOf(server, name);
    if (queue.length !== count) throw new Error(`${queue.length} wait`);
    return queue;
  });
}

const GUARD = 'holdfast_guard';

async function replicationId(server: TestServer): Promise<string> {
  const info = String(await server.command('INFO', 'replication'));
  return /master_replid:(\w+)/.exec(info)?.[1] ?? '';
}

/** Has a server that was just started judged as one that has run for long, and cannot have forgotten a hold. */
export async function settleGuard(server: TestServer): Promise<void> {
  await server.command('SET', GUARD, `master_replid:${await replicationId(server)}`);
}

/**
 * Has the guard find that another server was in charge before this one, as after a promotion. Resolves when the grace has
 * begun, to its end by `performance.now()`.
 */
export async function beginGrace(server: TestServer): Promise<number> {
  await server.command('SET', GUARD, `${'0'.repeat(40)} 1`);
  const id = await replicationId(server);
  const endsAt = await eventually(async () => {
    const [reckoned, end] = String(await server.command('GET', GUARD)).split(' ');
    return reckoned === id && Number(end);
  });
  return performance.now() + Number(endsAt) - Date.now();
}
