/**
 * Runs work with a permit that has a lease, and gives the permit back afterwards, however the work ends.
 *
 * As with a lock, an error of the work comes first; next, a permit lost while the work ran rejects the call. A failed
 * release is only reported, because the work is done.
 */
import { LeaseLostError } from '../errors.ts';
import type { Report } from '../events.ts';
import type { Permit } from './expirable-permit.ts';

export async function runWithExpirablePermit<T>(
  permit: Permit,
  work: (permit: Permit) => T | Promise<T>,
  report: Report,
): Promise<T> {
  let result: T;
  try {
    permit.assertHeld();
    result = await work(permit);
  } catch (error) {
    await giveBack(permit, report);
    throw error;
  }
  if (await giveBack(permit, report)) return result;
  const { signal } = permit;
  throw signal.aborted ? signal.reason : new LeaseLostError(permit.name, permit.id, 'notOwner');
}

/** Never throws. Answers whether the permit was held to the end. */
async function giveBack(permit: Permit, report: Report): Promise<boolean> {
  try {
    return await permit.release();
  } catch (error) {
    // The permit was held to the end; only the release is in doubt, and is being retried.
    report('error', { error, during: `release a permit of "${permit.name}"` });
    return true;
  }
}
