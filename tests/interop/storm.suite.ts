/** Java and Node fight over one lock of every kind; at a Cluster over those that differ there. */
import { it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { describeInterop, type Interop } from './support/context.ts';
import type { JavaLockKind } from './support/java-objects.ts';
import { expectOrderInStorm, STORM_TESTED_WITHIN_MS } from './support/storms.ts';

/** How long the storm over each kind lasts. */
const STORM_MS = 10_000;

/** Where it is passed on, Node processes hand the lock from task to task; the JVMs must get their turns all the same. */
type Storm = readonly [title: string, kind: JavaLockKind, isPassedOn: boolean];

const LOCK: Storm = ['getLock', 'lock', false];
const PASSED_ON: Storm = ['getLock, passed on', 'lock', true];
const FAIR: Storm = ['getFairLock, served in order', 'fair', false];
const FENCED: Storm = ['getFencedLock, with rising tokens', 'fenced', false];

const AT_CLUSTER: readonly Storm[] = [LOCK, PASSED_ON, FAIR, FENCED];
const AT_ONE_SERVER: readonly Storm[] = [
  LOCK,
  PASSED_ON,
  ['getNonReentrantLock', 'nonReentrant', false],
  ['getNonReentrantLock, passed on', 'nonReentrant', true],
  FAIR,
  ['getNonReentrantFairLock, served in order', 'nonReentrantFair', false],
  ['getSpinLock', 'spin', false],
  FENCED,
  ['getReadWriteLock, to read and to write', 'write', false],
  ['getMultiLock of two', 'multi', false],
];

function namesFor(kind: JavaLockKind, isCluster: boolean): [string, ...string[]] {
  const name = isCluster ? `{${randomName('tag')}}:storm` : randomName('storm');
  return kind === 'multi' ? [name, `${name}:second`] : [name];
}

function describeStorms(interop: Interop): void {
  const { isCluster, title: place } = interop.topology;
  it.each(isCluster ? AT_CLUSTER : AT_ONE_SERVER)(
    'a storm over %s: no update is lost',
    async (title, kind, isPassedOn) => {
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
