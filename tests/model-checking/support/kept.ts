/** The right protocol in one configuration: every state keeps every promise, and the page says how many there are. */
import { expect } from 'vitest';
import type { Configuration } from '../../../chaos/model/configurations.ts';
import { checkConfiguration } from '../../../chaos/model/run.ts';
import { ROWS } from './page.ts';

/** In the name of what is skipped where there is no spin. */
export const NEEDS_SPIN = '[needs spin and gcc]';

/** A search may share its core with many other tests. */
export const SEARCH_MS = 900_000;

export async function expectKept(spin: string, configuration: Configuration): Promise<void> {
  const outcome = await checkConfiguration(spin, configuration);
  expect(outcome, outcome.trail.join('\n')).toMatchObject({ result: 'holds', isExpected: true });
  const row = ROWS.find(([name]) => name === `\`${configuration.name}\``);
  expect(row?.[2]).toBe(outcome.states.toLocaleString('en'));
}
