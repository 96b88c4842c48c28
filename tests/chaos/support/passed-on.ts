/** A hold that one task of a process handed to the next. For tests and for child processes alike. */
import type { Hold, Lock, LockOptions } from '../../../src/index.ts';

/** No test takes so long: a lock is passed on whenever that is allowed. */
export const UNHURRIED = { maxMs: 600_000 };

export interface Passed {
  readonly former: Hold;
  /** What the former became, by the same field. */
  readonly hold: Hold;
  /** Those who wait behind it, in their order. */
  readonly behind: Promise<Hold>[];
}

/** Everything that needs no reply of a server has happened when this resolves, and no reply has come. */
async function withoutReplies(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
}

/**
 * Has one task take the lock while others wait behind it in the same line, and hand it to the first of them. All of them
 * are in line before the first is answered: those who wait never speak to the server.
 */
export async function passedOn(
  lock: Lock,
  { first, second, behind = 0 }: { first?: LockOptions; second?: LockOptions; behind?: number } = {},
): Promise<Passed> {
  const leading = lock.lock(first);
  await withoutReplies();
  const following = lock.lock(second);
  await withoutReplies();
  const others = Array.from({ length: behind }, () => lock.lock());
  const former = await leading;
  if (!(await former.unlock())) throw new Error('The first task had lost the lock');
  const hold = await following;
  if (hold.owner !== former.owner)
    throw new Error(`${former.owner} was not passed on but became ${hold.owner}`);
  return { former, hold, behind: others };
}
