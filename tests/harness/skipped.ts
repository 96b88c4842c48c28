/** How the tests of a run ended, and which were skipped: no skip is silent. */
import type { Vitest } from 'vitest/node';

/** In the name of whatever is skipped for want of a server process. */
export const NEEDS_PROCESS = '[needs a server process]';

/** So whatever is missing is named: a server process, Java. */
const NEEDS = /\[needs [^\]]+\]/;

export function namesOfSkipped(vitest: Vitest): string[] {
  // Asked for some tests by name, vitest marks all others as skipped: those are no news.
  const isFiltered = vitest.config.testNamePattern !== undefined;
  const names: string[] = [];
  for (const module of vitest.state.getTestModules()) {
    for (const test of module.children.allTests('skipped')) {
      if (!isFiltered || NEEDS.test(test.fullName)) {
        names.push(`${module.project.name}: ${module.relativeModuleId} > ${test.fullName}`);
      }
    }
  }
  return names;
}

export function countTests(vitest: Vitest): { passed: number; failed: number } {
  let passed = 0;
  let failed = 0;
  for (const module of vitest.state.getTestModules()) {
    passed += [...module.children.allTests('passed')].length;
    failed += [...module.children.allTests('failed')].length;
  }
  return { passed, failed };
}
