/** Input that must be refused before anything is sent, and keys that are not ours to touch. */
import { OptionError } from '../../../src/index.ts';
import type { Visit } from './visit.ts';

const NO_LEASES = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 63];

/** A promise of the surface was broken in front of the worker's eyes. */
export class BrokenPromiseError extends Error {}

export const badInput: Visit = async ({ client, random, prefix }) => {
  const leaseMs = random.pick(NO_LEASES);
  const lock = client.getLock(`${prefix}:input`);
  const refused = await lock.tryLock({ leaseMs }).then(
    () => false,
    (error: unknown) => error instanceof OptionError,
  );
  if (!refused) throw new BrokenPromiseError(`A lease of ${leaseMs} was not refused`);
  // A number under its name is no lock. That it is left alone shows in the permits at the end.
  const semaphore = client.getLock(`${prefix}:semaphore:1`);
  const hold = await semaphore.tryLock().catch(() => null);
  if (hold !== null) throw new BrokenPromiseError('A lock was granted on the key of a semaphore');
};
