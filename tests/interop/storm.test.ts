/** Java and Node fight over one lock of every kind. */
import { it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { describeInterop } from './context.ts';
import type { JavaLockKind } from './java-objects.ts';
import { expectOrderInStorm, STORM_TESTED_WITHIN_MS } from './storms.ts';

/** How long the storm over each kind lasts. */
const STORM_MS = 20_000;

describeInterop('4.7.0', [
  (interop) => {
    it.each<[string, JavaLockKind]>([
      ['getLock', 'lock'],
      ['getNonReentrantLock', 'nonReentrant'],
      ['getFairLock, served as they came', 'fair'],
      ['getNonReentrantFairLock, served as they came', 'nonReentrantFair'],
      ['getSpinLock', 'spin'],
      ['getFencedLock, with rising tokens', 'fenced'],
      ['getReadWriteLock, to read and to write', 'write'],
      ['getMultiLock of two', 'multi'],
    ])(
      'a storm over %s: no update is lost',
      async (title, kind) => {
        const name = randomName('storm');
        const names = kind === 'multi' ? ([name, `${name}:second`] as const) : ([name] as const);
        await expectOrderInStorm(interop, title, { kind, names, runMs: STORM_MS });
      },
      STORM_TESTED_WITHIN_MS,
    );
  },
]);
