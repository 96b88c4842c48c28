/**
 * The model of the protocol: its switches are all used, its bounds are exact, and a mistake that is not found is told.
 * That the protocol keeps its promises and that every mistake is found is shown by `npm run chaos -- --quick`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { CONFIGURATIONS, MISTAKES, SITUATIONS } from '../../chaos/model/configurations.ts';
import { checkMistake, tableOf } from '../../chaos/model/run.ts';
import { findSpin, isSpinAtHand, search } from '../../chaos/model/spin.ts';
import { NEEDS_SPIN, SEARCH_MS } from './support/searches.ts';

const MODEL = join(import.meta.dirname, '../../chaos/model');
const small = CONFIGURATIONS.filter(({ size }) => size === 'small');

describe('the switches of the model', () => {
  const sources = readdirSync(MODEL)
    .filter((file) => file.endsWith('.pml'))
    .map((file) => readFileSync(join(MODEL, file), 'utf8'))
    .join('\n');
  const asked = [...sources.matchAll(/(?:#ifn?def |defined\()(\w+)/g)].map(([, name = '']) => name);
  const set = CONFIGURATIONS.flatMap(({ definitions }) =>
    definitions.map((each) => each.split('=')[0] ?? ''),
  );

  it('are all known mistakes, parts of configurations, or set by every search', () => {
    const known = [...MISTAKES.map(({ name }) => name), ...set, 'WITHIN', 'SEE'];
    expect(asked.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('are all in the model', () => {
    const known = [...MISTAKES.map(({ name }) => name), ...set];
    expect(known.filter((name) => !asked.includes(name))).toEqual([]);
  });

  it.each(SITUATIONS)('know the situation $name', ({ name }) => {
    expect(sources).toMatch(new RegExp(`#define ${name} [1-9]`));
    expect(sources).toContain(`SEEN(${name})`);
  });
});

describe.skipIf(!isSpinAtHand())(`the model ${NEEDS_SPIN}`, () => {
  let spin: string;
  beforeAll(async () => {
    spin = await findSpin();
  }, SEARCH_MS);

  it.each(small)('$name: the bound for waiters is exact', { timeout: SEARCH_MS }, async (each) => {
    const sooner = [...each.definitions, `WITHIN=${each.within - 1}`];
    expect(await search(spin, sooner, 'shortest')).toMatchObject({ broken: 'waiters' });
  });

  it('tokens may fall when the clock of a promoted server is behind by more than a grace', async () => {
    const definitions = ['GUARD', 'TOKENS', 'LEASE=2', 'GRACE=2', 'BEHIND=3'];
    expect(await search(spin, definitions, 'shortest')).toMatchObject({ broken: 'tokens' });
  });
});

describe('a mistake that is not found', () => {
  it('is marked in the table', () => {
    const outcome = { kind: 'mistake', name: 'NO_MARKER', states: 12_345, seconds: 1.25, trail: [] } as const;
    const table = tableOf([{ ...outcome, result: 'NOT FOUND', isExpected: false }]);
    expect(table).toMatch(/NO_MARKER +12,345 +1\.3 +NOT FOUND +<- NOT EXPECTED/);
  });

  it.skipIf(!isSpinAtHand())(
    `is not expected, nor is one that breaks another promise ${NEEDS_SPIN}`,
    { timeout: SEARCH_MS },
    async () => {
      const spin = await findSpin();
      // Nothing is passed on in this configuration.
      const harmless = { name: 'PASS_WITHOUT_BUDGET', what: '', configuration: 'guard-long-lease' } as const;
      expect(await checkMistake(spin, { ...harmless, breaks: 'waiters' })).toMatchObject({
        result: 'NOT FOUND',
        isExpected: false,
      });
      const other = { name: 'NO_MARKER', what: '', configuration: 'lease', breaks: 'exclusion' } as const;
      expect(await checkMistake(spin, other)).toMatchObject({ isExpected: false });
    },
  );
});

describe('a machine without the programs', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('is told what is missing', async () => {
    vi.stubEnv('PATH', '/nowhere');
    await expect(findSpin()).rejects.toThrow('needs gcc on PATH');
  });
});
