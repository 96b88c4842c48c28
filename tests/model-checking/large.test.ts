/** The configurations of the model that take longest. Beside the others, so that two cores share the work. */
import { beforeAll, describe, it } from 'vitest';
import { CONFIGURATIONS } from '../../chaos/model/configurations.ts';
import { findSpin, isSpinAtHand } from '../../chaos/model/spin.ts';
import { expectKept, NEEDS_SPIN, SEARCH_MS } from './support/kept.ts';

describe.skipIf(!isSpinAtHand())(`the model ${NEEDS_SPIN}`, () => {
  let spin: string;
  beforeAll(async () => {
    spin = await findSpin();
  }, SEARCH_MS);

  const large = CONFIGURATIONS.filter(({ size }) => size === 'large');
  it.each(large)('$name: every state keeps every promise', { timeout: SEARCH_MS }, async (each) => {
    await expectKept(spin, each);
  });
});
