/** Java and Node fight over locks at a Cluster, where sharded channels wake them. */
import { it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { CLUSTER } from './cluster.ts';
import { describeInterop } from './context.ts';
import type { JavaLockKind } from './java-objects.ts';
import { expectOrderInStorm, STORM_TESTED_WITHIN_MS } from './storms.ts';

/** The locks themselves have their long storms at one server; here it is about getting there, and about waking. */
const STORM_MS = 10_000;

describeInterop(
  '4.7.0',
  [
    (interop) => {
      it.each<[string, JavaLockKind]>([
        ['getLock', 'lock'],
        ['getFairLock, served as they came', 'fair'],
        ['getFencedLock, with rising tokens', 'fenced'],
      ])(
        'a storm over %s: no update is lost',
        async (title, kind) => {
          const names = [`{${randomName('tag')}}:storm`] as const;
          await expectOrderInStorm(interop, `${title}, at a Cluster`, { kind, names, runMs: STORM_MS });
        },
        STORM_TESTED_WITHIN_MS,
      );
    },
  ],
  CLUSTER,
);
