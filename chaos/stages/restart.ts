/**
 * Ends and starts the processes of servers, with or without what they had written to disk.
 *
 * Several faults may want the same server at once: each act waits for the one before.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestServer } from '../../src/testing/index.ts';
import { isRunning } from '../../tests/harness/processes.ts';

/** What a server finds when it starts: nothing, the last snapshot, or the log of all writes. */
export type Memory = 'nothing' | 'snapshot' | 'log';

const acts = new WeakMap<TestServer, Promise<unknown>>();

function inTurn<Answer>(server: TestServer, act: () => Promise<Answer>): Promise<Answer> {
  const before = acts.get(server) ?? Promise.resolve();
  const turn = before.then(act);
  acts.set(
    server,
    turn.catch(() => undefined),
  );
  return turn;
}

export function isUp(server: TestServer): boolean {
  return isRunning(server.pid);
}

export function kill(server: TestServer): Promise<void> {
  return inTurn(server, () => server.kill());
}

async function start(server: TestServer, memory: Memory, args: readonly string[]): Promise<void> {
  const { dir } = server;
  if (memory !== 'log') await rm(join(dir, 'appendonlydir'), { recursive: true, force: true });
  if (memory !== 'snapshot') await rm(join(dir, 'dump.rdb'), { force: true });
  await server.restart(['--appendonly', memory === 'log' ? 'yes' : 'no', ...args]);
}

/** Kills the server and starts it with that memory. */
export function restart(
  server: TestServer,
  memory: Memory = 'nothing',
  args: readonly string[] = [],
): Promise<void> {
  return inTurn(server, async () => {
    await server.kill();
    await start(server, memory, args);
  });
}

/** Starts the server if it does not run. */
export function revive(
  server: TestServer,
  memory: Memory = 'nothing',
  args: readonly string[] = [],
): Promise<void> {
  return inTurn(server, async () => {
    if (!isUp(server)) await start(server, memory, args);
  });
}
