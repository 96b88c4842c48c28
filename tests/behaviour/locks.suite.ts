/** The whole Lock interface, for every kind of lock, and what is special to some. */
import { describe } from 'vitest';
import { describeAbort } from './parts/abort.ts';
import { describeHold } from './parts/hold.ts';
import { describeLease } from './parts/lease.ts';
import { describeMutualExclusion } from './parts/mutual-exclusion.ts';
import { describeNonReentrant } from './parts/non-reentrant.ts';
import { describeReentry } from './parts/reentry.ts';
import { describeSections } from './parts/sections.ts';
import { describeSpinning, describeWaiting } from './parts/waiting.ts';
import { describeRedissonWire, describeSimpleWire } from './parts/wire.ts';
import { describeWithLock } from './parts/with-lock.ts';
import { describeThrough } from './support/context.ts';
import { KINDS, REENTRANT_KINDS } from './support/kinds.ts';

describeThrough('locks', (context) => {
  for (const kind of KINDS) {
    describe(kind.title, () => {
      describeMutualExclusion(context, kind);
      describeWaiting(context, kind);
      describeLease(context, kind);
      describeHold(context, kind);
      describeWithLock(context, kind);
      describeAbort(context, kind);
      if (kind.layout === 'hash') describeRedissonWire(context, kind);
    });
  }
  for (const kind of REENTRANT_KINDS) {
    describe(kind.title, () => {
      describeReentry(context, kind);
      describeSections(context, kind);
    });
  }
  describeNonReentrant(context);
  describeSpinning(context);
  describeSimpleWire(context);
});
