/** The configurations of the model that take too long for `npm run chaos -- --quick`, which searches the others. */
import { beforeAll, describe, expect, it } from 'vitest';
import { CONFIGURATIONS } from '../../chaos/model/configurations.ts';
import { checkConfiguration } from '../../chaos/model/run.ts';
import { findSpin, isSpinAtHand } from '../../chaos/model/spin.ts';
import { NEEDS_SPIN, SEARCH_MS } from './support/searches.ts';

describe.skipIf(!isSpinAtHand())(`the model ${NEEDS_SPIN}`, () => {
  let spin: string;
  beforeAll(async () => {
    spin = await findSpin();
  }, SEARCH_MS);

  const large = CONFIGURATIONS.filter(({ size }) => size === 'large');
  it.each(large)('$name: every state keeps every promise', { timeout: SEARCH_MS }, async (each) => {
    const outcome = await checkConfiguration(spin, each);
    expect(outcome, outcome.trail.join('\n')).toMatchObject({ result: 'holds', isExpected: true });
  });
});
