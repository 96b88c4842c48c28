/**
 * The order of the files: those that take minutes whatever else runs begin first, so that no worker is left with one of
 * them in the end. All others keep vitest's own order.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONG = [
  'model-checking/large.test.ts',
  'interop/storm.suite.ts',
  'interop/time.suite.ts',
  'chaos/failover.test.ts',
  'chaos/in-multi.test.ts',
  'interop/locks.suite.ts',
  'site/browser.test.ts',
  'nemesis/faults.test.ts',
  'e2e/projects.test.ts',
  'model-checking/model.test.ts',
  'chaos/split-brain.test.ts',
  'interop/synchronizers.suite.ts',
];

function rank({ moduleId }: TestSpecification): number {
  const index = LONG.findIndex((file) => moduleId.endsWith(file));
  return index === -1 ? LONG.length : index;
}

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}
