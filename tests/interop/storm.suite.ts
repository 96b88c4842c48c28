/** Java and Node fight over one lock of every kind; at a Cluster over those that differ there. */
import { it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { describeInterop, type Interop } from './support/context.ts';
import type { JavaLockKind } from './support/java-objects.ts';
import { expectOrderInStorm, STORM_TESTED_WITHIN_MS } from './support/storms.ts';

/** How long the storm over each kind lasts. */
const STORM_MS = 10_000;

const LOCK = ['getLock', 'lock'] as const;
const FAIR = ['getFairLock, served as they came', 'fair'] as const;
const FENCED = ['getFencedLock, with rising tokens', 'fenced'] as const;

const AT_CLUSTER: readonly (readonly [title: string, kind: JavaLockKind])[] = [LOCK, FAIR, FENCED];
const AT_ONE_SERVER: typeof AT_CLUSTER = [
  LOCK,
  ['getNonReentrantLock', 'nonReentrant'],
  FAIR,
  ['getNonReentrantFairLock, served as they came', 'nonReentrantFair'],
  ['getSpinLock', 'spin'],
  FENCED,
  ['getReadWriteLock, to read and to write', 'write'],
  ['getMultiLock of two', 'multi'],
];

function namesFor(kind: JavaLockKind, isCluster: boolean): [string, ...string[]] {
  const name = isCluster ? `{${randomName('tag')}}:storm` : randomName('storm');
  return kind === 'multi' ? [name, `${name}:second`] : [name];
}

function describeStorms(interop: Interop): void {
  const { isCluster, title: place } = interop.topology;
  it.each(isCluster ? AT_CLUSTER : AT_ONE_SERVER)(
    'a storm over %s: no update is lost',
    async (title, kind) => {
      await expectOrderInStorm(interop, `${title}, at ${place}`, {
        kind,
        names: namesFor(kind, isCluster),
        runMs: STORM_MS,
      });
    },
    STORM_TESTED_WITHIN_MS,
  );
}

describeInterop({ '4.7.0': [describeStorms] });
