/**
 * What a section costs over a handle: the owner that nested code re-enters as.
 */
import { Holdfast } from '../../src/index.ts';
import { compare, ratio } from '../measure.ts';
import type { Scenario } from '../scenario.ts';

export const withLock: Scenario = {
  title: 'withLock',
  async run(url) {
    const client = await Holdfast.connect(url);
    const lock = client.getLock('bench:with-lock');
    const owner = client.owner();
    const held = client.getLock('bench:re-entry');
    const outer = await held.lock({ owner });
    const times = await compare({
      cycle: async () => {
        const hold = await lock.lock();
        await hold.unlock();
      },
      section: () => lock.withLock(() => undefined),
      reentry: async () => {
        const hold = await held.lock({ owner });
        await hold.unlock();
      },
    });
    await outer.unlock();
    await client.close();
    return [
      { what: 'withLock / lock + unlock', value: ratio(times.section, times.cycle), unit: 'x' },
      { what: 're-entry + leaving / lock + unlock', value: ratio(times.reentry, times.cycle), unit: 'x' },
    ];
  },
};
