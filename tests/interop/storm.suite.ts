/** Java and Node fight over one lock of every kind; at a Cluster over those that differ there. */
import { it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { describeInterop, type Interop } from './support/context.ts';
import type { JavaLockKind } from './support/java-objects.ts';
import { expectOrderInStorm, STORM_TESTED_WITHIN_MS } from './support/storms.ts';

/** How long the storm over each kind lasts. */
const STORM_MS = 10_000;

interface Storm {
  readonly title: string;
  readonly kind: JavaLockKind;
  /** Node processes hand the lock from task to task; the JVMs must get their turns all the same. */
  readonly isPassedOn?: boolean;
}

const LOCK: Storm = { title: 'getLock', kind: 'lock' };
const PASSED_ON: Storm = { title: 'getLock, passed on', kind: 'lock', isPassedOn: true };
const FAIR: Storm = { title: 'getFairLock, served as they came', kind: 'fair' };
const FENCED: Storm = { title: 'getFencedLock, with rising tokens', kind: 'fenced' };

const AT_CLUSTER: readonly Storm[] = [LOCK, PASSED_ON, FAIR, FENCED];
const AT_ONE_SERVER: readonly Storm[] = [
  LOCK,
  PASSED_ON,
  { title: 'getNonReentrantLock', kind: 'nonReentrant' },
  { title: 'getNonReentrantLock, passed on', kind: 'nonReentrant', isPassedOn: true },
  FAIR,
  { title: 'getNonReentrantFairLock, served as they came', kind: 'nonReentrantFair' },
  { title: 'getSpinLock', kind: 'spin' },
  FENCED,
  { title: 'getReadWriteLock, to read and to write', kind: 'write' },
  { title: 'getMultiLock of two', kind: 'multi' },
];

function namesFor(kind: JavaLockKind, isCluster: boolean): [string, ...string[]] {
  const name = isCluster ? `{${randomName('tag')}}:storm` : randomName('storm');
  return kind === 'multi' ? [name, `${name}:second`] : [name];
}

function describeStorms(interop: Interop): void {
  const { isCluster, title: place } = interop.topology;
  it.each(isCluster ? AT_CLUSTER : AT_ONE_SERVER)(
    'a storm over $title: no update is lost',
    async ({ title, kind, isPassedOn = false }) => {
      await expectOrderInStorm(interop, `${title}, at ${place}`, {
        kind,
        isPassedOn,
        names: namesFor(kind, isCluster),
        runMs: STORM_MS,
      });
    },
    STORM_TESTED_WITHIN_MS,
  );
}

describeInterop({ '4.7.0': [describeStorms] });
