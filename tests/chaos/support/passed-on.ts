/** A hold that one task of a process handed to the next. For tests and for child processes alike. */
import type { Hold, Lock, LockOptions } from '../../../src/index.ts';

/** No test takes so long: a lock is passed on whenever that is allowed. */
export const UNHURRIED = { maxMs: 600_000 };

/** Who had it, and who has it now by the same field. */
export interface Passed {
  readonly former: Hold;
  readonly hold: Hold;
}

/**
 * Has one task take the lock while others wait behind it in the same line, and hand it to the first of them. All ask
 * in one turn, so that those who wait never speak to the server.
 *
 * @param then what to ask for behind these two, before the lock is passed on
 */
export async function passedOn(
  lock: Lock,
  { first, second, then }: { first?: LockOptions; second?: LockOptions; then?: () => void } = {},
): Promise<Passed> {
  const [leading, following] = [lock.lock(first), lock.lock(second)];
  then?.();
  const former = await leading;
  if (!(await former.unlock())) throw new Error('The first task had lost the lock');
  const hold = await following;
  if (hold.owner !== former.owner)
    throw new Error(`${former.owner} was not passed on but became ${hold.owner}`);
  return { former, hold };
}
