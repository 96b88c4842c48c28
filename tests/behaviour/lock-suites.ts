/** Every suite of the locks, for one client library. */
import { describe } from 'vitest';
import { describeAbort } from './abort.ts';
import { type Context, forbidUnhandledRejections } from './context.ts';
import { describeHold, describeHoldOverTime } from './hold.ts';
import { KINDS, REENTRANT_KINDS } from './kinds.ts';
import { describeLease, describeLeaseOverTime } from './lease.ts';
import { describeMutualExclusion } from './mutual-exclusion.ts';
import { describeNonReentrant } from './non-reentrant.ts';
import { describeReentry, describeReentryOverTime } from './reentry.ts';
import { describeSections } from './sections.ts';
import { describeSpinning, describeWaiting, describeWaitingForLeases } from './waiting.ts';
import { describeRedissonWire, describeSimpleWire } from './wire.ts';
import { describeWithLock, describeWithLockOverTime } from './with-lock.ts';

/** The whole Lock interface, for every kind of lock, and what is special to some. */
export function describeLocks(context: Context): void {
  describe(`locks through ${context.title}`, () => {
    forbidUnhandledRejections();
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
}

/** What takes real time, every kind at once. */
export function describeLocksOverTime(context: Context): void {
  describe(`locks through ${context.title}`, () => {
    forbidUnhandledRejections();
    describeWaitingForLeases(context);
    describeLeaseOverTime(context);
    describeHoldOverTime(context);
    describeWithLockOverTime(context);
    describeReentryOverTime(context);
  });
}
