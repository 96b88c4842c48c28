/** Child processes of a project pass locks on where the project does, or nothing shows what becomes of the others. */
import { fileURLToPath } from 'node:url';
import { expect, inject, it, vi } from 'vitest';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { sharedServer } from '../harness/servers.ts';
import { firstWord, WITH_CHILDREN_MS } from './support/first-word.ts';

vi.setConfig({ testTimeout: WITH_CHILDREN_MS });

const SCRIPT = fileURLToPath(new URL('./children/takes-turns.ts', import.meta.url));

it('a client of a child process passes locks on as the clients of its test do', async () => {
  const { host, port } = sharedServer();
  const child = spawnChild(SCRIPT, { args: [JSON.stringify({ host, port }), randomName()] });
  const { tasks, fields } = await firstWord(child, (message) => message['tasks'] !== undefined);
  if (inject('passing') === 'off') expect(fields).toBe(tasks);
  else expect(fields).toBeLessThan(Number(tasks));
});
