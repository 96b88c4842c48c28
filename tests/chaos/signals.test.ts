/**
 * How a process ends that is asked to while it holds a lock, with closeOnSignals: as PID 1, as in every container; and
 * beside a handler of the program's own.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { spawnChild } from '../harness/child.ts';
import type { TestChild } from '../harness/child-process.ts';
import { randomName } from '../harness/names.ts';
import { sharedServer } from '../harness/servers.ts';
import { join, timed } from './support/arena.ts';
import { firstWord, WITH_CHILDREN_MS } from './support/first-word.ts';

vi.setConfig({ testTimeout: WITH_CHILDREN_MS });

const CHILD = fileURLToPath(new URL('./children/shuts-down.ts', import.meta.url));

/** Long before the lease would have ended by itself. */
const RELEASED_MS = 10_000;

/** Runs a command as PID 1 of a namespace of its own. */
const AS_PID_1 = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
const [UNSHARE = '', ...UNSHARE_OPTIONS] = AS_PID_1;
const CAN_BE_PID_1 = spawnSync(UNSHARE, [...UNSHARE_OPTIONS, 'true']).status === 0;

/** The child of `unshare`, as this process sees it. */
function forkedBy({ pid }: TestChild): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
}

async function holder(own: string, under: readonly string[] = []) {
  const { url } = sharedServer();
  const name = randomName();
  const child = spawnChild(CHILD, { args: [url, name, own], under });
  const { pid } = await firstWord(child, (message) => message['pid'] !== undefined);
  const waiting = timed((await join('Holdfast.connect', sharedServer())).getLock(name).lock());
  return { child, pid, waiting };
}

describe('SIGTERM with closeOnSignals', () => {
  describe.skipIf(!CAN_BE_PID_1)(`to PID 1${CAN_BE_PID_1 ? '' : ' [needs root and unshare]'}`, () => {
    it.each([
      ['without a handler of its own: the lock is free, and the process ends with 143', '', 143],
      ['with a handler of its own: the lock is free, and that handler ends the process', 'on', 7],
    ])('%s', async (_, own, code) => {
      const { child, pid, waiting } = await holder(own, AS_PID_1);
      expect(pid).toBe(1);
      process.kill(forkedBy(child), 'SIGTERM');
      expect(await child.exited).toEqual({ code, signal: null });
      expect((await waiting).tookMs).toBeLessThan(RELEASED_MS);
    });
  });

  it.each(['on', 'once'])(
    'to a program whose own handler listens by process.%s: the lock is free, and that handler ends the process',
    async (own) => {
      const { child, waiting } = await holder(own);
      child.kill('SIGTERM');
      expect(await child.exited).toEqual({ code: 7, signal: null });
      expect((await waiting).tookMs).toBeLessThan(RELEASED_MS);
    },
  );
});
