/** Equal processes that pass a lock on among their own tasks, by the default options: each gets its share of the turns. */
import { fileURLToPath } from 'node:url';
import { expect, inject, it, vi } from 'vitest';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import type { SharesSettings } from './children/shares.ts';
import { arena } from './support/arena.ts';
import { firstWord, WITH_CHILDREN_MS } from './support/first-word.ts';
import { PASSED_ON } from './support/kinds.ts';

vi.setConfig({ testTimeout: WITH_CHILDREN_MS });

const SCRIPT = fileURLToPath(new URL('./children/shares.ts', import.meta.url));

const PROCESSES = 3;
const TASKS = 8;
/** A hundred turns and more of 10 ms, so that a late start or a pause of a process weighs little; or single holds. */
const TOTAL = inject('passing') === 'off' ? 2_400 : 12_000;
/** Of all holds, for each process. */
const LEAST_SHARE = 0.15;

/** Jain's index: 1 when all have equally much, one in the number of them when one has everything. */
function jain(shares: readonly number[]): number {
  const sum = shares.reduce((a, b) => a + b, 0);
  return sum ** 2 / (shares.length * shares.reduce((a, b) => a + b ** 2, 0));
}

describeWithProcess(`${PROCESSES} processes of ${TASKS} tasks contend for a lock`, () => {
  it.each(PASSED_ON)('each has its share of the holds: $title', async (kind) => {
    const { server } = await arena();
    const name = randomName();
    const settings: SharesSettings = {
      place: { host: server.host, port: server.port },
      kind: kind.title,
      name,
      tasks: TASKS,
      counter: `counter:${name}`,
      total: TOTAL,
    };
    const children = Array.from({ length: PROCESSES }, () =>
      spawnChild(SCRIPT, { args: [JSON.stringify(settings)] }),
    );
    await Promise.all(children.map((child) => firstWord(child, ({ ready }) => ready === true)));
    for (const child of children) child.send({ order: 'go' });
    const words = await Promise.all(
      children.map((child) => firstWord(child, (message) => message['holds'] !== undefined)),
    );
    const shares = words.map(({ holds }) => Number(holds) / TOTAL);
    console.log(`${kind.title}: ${shares.map((share) => share.toFixed(2))}, Jain ${jain(shares).toFixed(3)}`);
    expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1);
    expect(Math.min(...shares)).toBeGreaterThan(LEAST_SHARE);
    expect(jain(shares)).toBeGreaterThanOrEqual(0.9);
  });
});
