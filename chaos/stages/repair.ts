/**
 * Brings one server back to what it was when its stage started: running, answering, with its settings and with every
 * right of its user. Roles and links are left to the stages.
 */
import { RawError, type TestServer } from '../../src/testing/index.ts';
import { answerOf, type Command } from '../../tests/harness/server-answers.ts';
import { eventually } from '../../tests/harness/wait.ts';
import { restart, revive } from './restart.ts';

/** The password that faults give to the user of all clients. */
export const FAULT_PASSWORD = 'changed-by-the-nemesis';

/** Every setting that a fault changes, as stages need it. */
const USUAL_SETTINGS = {
  maxmemory: '0',
  'maxmemory-policy': 'noeviction',
  'client-output-buffer-limit': 'pubsub 32mb 8mb 60',
  'min-replicas-to-write': '0',
  'min-replicas-max-lag': '10',
  'repl-diskless-sync': 'yes',
  'repl-diskless-sync-delay': '0',
  'busy-reply-threshold': '5000',
  appendonly: 'no',
} as const;

const ANSWERS_WITHIN_MS = 4_000;

/** Whether the server did it. It did not when it is dead, silent for a second, or refuses. */
export async function obeys(server: TestServer, ...command: Command): Promise<boolean> {
  try {
    return (await answerOf(server, ...command)) !== undefined;
  } catch (error) {
    if (error instanceof RawError) return false;
    throw error;
  }
}

/** Gives the user of all clients every right, also when it takes a password that a fault has set. */
export async function restoreRights(server: TestServer): Promise<boolean> {
  await obeys(server, 'AUTH', 'default', FAULT_PASSWORD);
  return obeys(server, 'ACL', 'SETUSER', 'default', 'on', 'nopass', '~*', '&*', '+@all');
}

export function restoreSettings(server: TestServer): Promise<boolean> {
  return obeys(server, 'CONFIG', 'SET', ...Object.entries(USUAL_SETTINGS).flat());
}

async function answersAgain(server: TestServer): Promise<boolean> {
  const check = async () => {
    // The scripts of faults only read, so they can be ended.
    await obeys(server, 'SCRIPT', 'KILL');
    return (await restoreRights(server)) && obeys(server, 'PING');
  };
  return eventually(check, { withinMs: ANSWERS_WITHIN_MS, everyMs: 50 }).catch(() => false);
}

/** Repairs a server. One that is dead starts empty, and so does one that does not come round. */
export async function repair(server: TestServer, args: readonly string[] = []): Promise<void> {
  await server.resume();
  await revive(server, 'nothing', args);
  if (!(await answersAgain(server))) await restart(server, 'nothing', args);
  await obeys(server, 'CLIENT', 'UNPAUSE');
  if (!(await restoreSettings(server))) throw new Error(`${server.url} does not restore its settings`);
}
