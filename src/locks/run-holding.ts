/**
 * Runs work while holding a lock, and releases the lock afterwards, whatever happens.
 *
 * An error of the work comes first and is rethrown as it is. Next, a hold lost while the work ran rejects the
 * call, even if the work resolved. A failed release is only reported, because the work is done.
 */
import { LeaseLostError } from '../errors.ts';
import type { Report } from '../events.ts';
import type { Hold } from './hold.ts';

export interface Held extends Hold {
  readonly loss: LeaseLostError | undefined;
}

/** Calls `onAcquire`, then the work; the work does not begin if the hold was lost in the meantime. */
export async function workHolding<T, H extends Hold>(
  hold: H,
  onAcquire: ((hold: H) => unknown) | undefined,
  work: (hold: H) => T | Promise<T>,
): Promise<T> {
  if (onAcquire !== undefined) await onAcquire(hold);
  hold.assertHeld();
  return work(hold);
}

export async function runHolding<T, H extends Held>(
  hold: H,
  work: () => Promise<T>,
  report: Report,
  onRelease: ((hold: H, released: boolean) => unknown) | undefined,
): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await giveBack(hold, report, onRelease);
    throw error;
  }
  if (await giveBack(hold, report, onRelease)) return result;
  throw hold.loss ?? new LeaseLostError(hold.name, hold.owner, 'notOwner');
}

/** Never throws. Answers whether the lock was held to the end. */
async function giveBack<H extends Held>(
  hold: H,
  report: Report,
  onRelease: ((hold: H, released: boolean) => unknown) | undefined,
): Promise<boolean> {
  let released = true;
  try {
    released = await hold.unlock();
  } catch (error) {
    // The lock was held to the end; only the release is in doubt, and is being retried.
    report('error', { error, during: `release "${hold.name}"` });
  }
  try {
    await onRelease?.(hold, released);
  } catch (error) {
    report('error', { error, during: `onRelease of "${hold.name}"` });
  }
  return released;
}
