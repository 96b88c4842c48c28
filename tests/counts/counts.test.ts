/**
 * Keeps holdfast fast by counting, not timing: commands, bytes, promises, timers and objects are the same on every
 * machine and under every load. What each may be is in `budget.ts`.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { spawnChild } from '../harness/child.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { CROWDS, CYCLES, HAND_OVERS } from './budget.ts';
import { type Budget, differences, type Figures } from './support/compare.ts';

const CHILD = fileURLToPath(new URL('children/counts.ts', import.meta.url));

const TIMEOUT_MS = 120_000;

/** Has a process of its own count the scenes, and compares each with the budget. */
async function expectWithin(budgets: Readonly<Record<string, Budget>>): Promise<void> {
  const scenes = Object.keys(budgets);
  const server = await ownServer();
  const child = spawnChild(CHILD, { args: [server.url, JSON.stringify(scenes)] });
  const { code } = await child.exited;
  expect(code, child.stderr).toBe(0);
  expect(child.messages.map(({ scene }) => scene)).toEqual(scenes);

  const found = child.messages.flatMap(({ scene, counted }) =>
    differences(scene as string, budgets[scene as string] as Budget, counted as Figures),
  );
  const why = 'The cost has changed. To accept that, write the new figures into tests/counts/budget.ts:';
  expect(found, [why, ...found].join('\n  ')).toEqual([]);
}

describeWithProcess('the cost of holdfast', () => {
  it('is within the budget in every cycle', () => expectWithin(CYCLES), TIMEOUT_MS);

  it('is within the budget at every change of hands', () => expectWithin(HAND_OVERS), TIMEOUT_MS);

  // Each in a process of its own: garbage of one would be taken for what another gave back.
  for (const [scene, budget] of Object.entries(CROWDS)) {
    it(`is within the budget on the heap: ${scene}`, () => expectWithin({ [scene]: budget }), TIMEOUT_MS);
  }
});

describe('the comparison with the budget', () => {
  const budget = { commands: 2, bytes: { atMost: 100 } };

  it('reports nothing if all counts are within the budget', () => {
    expect(differences('a lock', budget, { commands: 2, bytes: 99 })).toEqual([]);
  });

  it('names each count that grew, with both numbers', () => {
    expect(differences('a lock', budget, { commands: 3, bytes: 101, timers: 1 })).toEqual([
      'a lock: commands grew from 2 to 3',
      'a lock: bytes grew: 101, and at most 100 is allowed',
      'a lock: timers grew from 0 to 1',
    ]);
  });

  it('reports counts that shrank', () => {
    expect(differences('a lock', budget, { bytes: 1 })).toEqual([
      'a lock: commands shrank from 2 to 0: write that down, so that it stays',
    ]);
  });
});
