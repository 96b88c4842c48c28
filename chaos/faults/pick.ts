/** What there is to strike. A fault that finds nothing, because others have struck before, does nothing. */

import type { Random } from '../../src/testing/history/random.ts';
import type { TestServer } from '../../src/testing/index.ts';
import type { Scene, Victim } from '../fault.ts';
import { isUp } from '../stages/restart.ts';

/** The primaries that run. */
export async function upPrimaries({ stage }: Scene): Promise<TestServer[]> {
  // While the servers disagree there is no primary to be told.
  const primaries = await stage.primaries().catch(() => []);
  return primaries.filter(isUp);
}

/** Some of them, one at least, in random order; none of none. */
export function some<T>(random: Random, of: readonly T[], atMost = of.length): T[] {
  if (of.length === 0) return [];
  return random.shuffle(of).slice(0, random.integer(1, Math.min(atMost, of.length)));
}

/** Some workers, but not all of them when there are several: what the fault does shows in the others. */
export function someVictims({ random, victims }: Scene): Victim[] {
  return some(random, victims, Math.max(1, Math.ceil(victims.length / 2)));
}
