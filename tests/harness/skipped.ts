/** Which tests of a run were skipped, so that no skip is silent. */
import type { Vitest } from 'vitest/node';

/** In the name of whatever is skipped for want of a server process. */
export const NEEDS_PROCESS = '[needs a server process]';

export function namesOfSkipped(vitest: Vitest): string[] {
  // Asked for some tests by name, vitest marks all others as skipped: those are no news.
  const isFiltered = vitest.config.testNamePattern !== undefined;
  const names: string[] = [];
  for (const module of vitest.state.getTestModules()) {
    for (const test of module.children.allTests('skipped')) {
      if (!isFiltered || test.fullName.includes(NEEDS_PROCESS)) {
        names.push(`${module.relativeModuleId} > ${test.fullName}`);
      }
    }
  }
  return names;
}
