/** What the compiler learns from `instanceof` and from a code; never run. */
import { expectTypeOf } from 'vitest';
import {
  AcquireTimeoutError,
  ClosedError,
  DriverError,
  type ErrorCode,
  HoldfastError,
  LeaseLostError,
  type LossReason,
  NotHeldError,
  OptionError,
  OutcomeUnknownError,
  ReentryError,
} from '../../src/index.ts';

export function narrowing(error: unknown): void {
  if (error instanceof AcquireTimeoutError) {
    expectTypeOf<typeof error.code>().toEqualTypeOf<'ERR_ACQUIRE_TIMEOUT'>();
    expectTypeOf(error.lockName).toBeString();
    expectTypeOf(error.waitedMs).toBeNumber();
    expectTypeOf(error.holder).toEqualTypeOf<string | undefined>();
    expectTypeOf(error.remainingMs).toEqualTypeOf<number | undefined>();
    expectTypeOf(error.heldBy?.label).toEqualTypeOf<string | undefined>();
  } else if (error instanceof LeaseLostError) {
    expectTypeOf<typeof error.code>().toEqualTypeOf<'ERR_LEASE_LOST'>();
    expectTypeOf(error.reason).toEqualTypeOf<LossReason>();
    expectTypeOf(error.owner).toBeString();
  } else if (error instanceof NotHeldError) {
    expectTypeOf<typeof error.code>().toEqualTypeOf<'ERR_NOT_HELD'>();
  } else if (error instanceof ReentryError) {
    expectTypeOf<typeof error.code>().toEqualTypeOf<'ERR_REENTRY'>();
  } else if (error instanceof OutcomeUnknownError) {
    expectTypeOf<typeof error.code>().toEqualTypeOf<'ERR_OUTCOME_UNKNOWN'>();
  } else if (error instanceof DriverError) {
    expectTypeOf<typeof error.code>().toEqualTypeOf<'ERR_DRIVER'>();
    expectTypeOf(error.cause).toBeUnknown();
  } else if (error instanceof ClosedError) {
    expectTypeOf<typeof error.code>().toEqualTypeOf<'ERR_CLOSED'>();
  } else if (error instanceof OptionError) {
    expectTypeOf<typeof error.code>().toEqualTypeOf<'ERR_INVALID_OPTION'>();
    expectTypeOf(error).toExtend<TypeError>();
  } else if (error instanceof HoldfastError) {
    expectTypeOf<typeof error.code>().toEqualTypeOf<ErrorCode>();
    expectTypeOf(error).toExtend<Error>();
  }
}

export function byCode(error: AcquireTimeoutError | LeaseLostError | ClosedError): void {
  switch (error.code) {
    case 'ERR_ACQUIRE_TIMEOUT':
      expectTypeOf(error).toEqualTypeOf<AcquireTimeoutError>();
      break;
    case 'ERR_LEASE_LOST':
      expectTypeOf(error.reason).toEqualTypeOf<LossReason>();
      break;
    default:
      expectTypeOf(error).toEqualTypeOf<ClosedError>();
  }
  // @ts-expect-error: no such code
  if (error.code === 'ERR_TIMEOUT') throw error;
}

export function everyReason(reason: LossReason): string {
  switch (reason) {
    case 'expired':
    case 'notOwner':
    case 'unreachable':
    case 'failover':
    case 'suspended':
    case 'forced':
    case 'maxHold':
    case 'closed':
      return reason;
    default:
      return expectTypeOf(reason).toBeNever() as never;
  }
}
