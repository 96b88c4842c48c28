/**
 * Recognises a call that waits for a lock which the section around it holds as another owner: if the section awaits the
 * call, neither ever ends.
 *
 * Only sections are known: a hold that was taken outside of one belongs to no code in particular.
 */
import { DeadlockError } from '../errors.ts';
import type { Owner } from '../runtime/owner.ts';
import type { LockProtocol } from '../runtime/protocol.ts';
import type { Tenure } from '../runtime/tenure.ts';
import type { Limits } from '../runtime/wait-budget.ts';
import type { LockContext } from './lock-context.ts';

/** The lock that is asked for. */
interface Asked {
  readonly context: LockContext;
  readonly protocol: LockProtocol;
  readonly isShared: boolean;
}

/** The tenure by which an owner keeps others out of this lock. */
function obstacleBy(owner: Owner, { protocol, isShared }: Asked): Tenure | undefined {
  return owner.tenures().find((tenure) => {
    const isBesideReaders = isShared && tenure.protocol.identity === protocol.identity;
    return tenure.protocol.key === protocol.key && tenure.isHeld && !isBesideReaders;
  });
}

/**
 * The section of the calling code runs as `holder`, and another owner of the same client asks. A wait that nothing
 * limits is refused, and one that ends by itself is reported.
 *
 * @throws DeadlockError
 */
export function refuseSelfWait(lock: Asked, holder: Owner, { waitMs, signal }: Limits): void {
  const tenure = waitMs === 0 ? undefined : obstacleBy(holder, lock);
  if (tenure === undefined) return;
  const { name } = lock.protocol;
  const error = new DeadlockError(name, tenure.owner, `another owner of client ${lock.context.clientId}`);
  if (waitMs === Number.POSITIVE_INFINITY && signal === undefined) throw error;
  report(lock, error.message);
}

/**
 * The calling code is in sections of other clients, which may be connected to other servers. So the server is asked
 * who holds the lock. That is reported and not refused: the section may end without waiting for the call.
 */
export async function tellSelfWait(
  lock: Asked,
  holders: readonly Owner[],
  { waitMs }: Limits,
): Promise<void> {
  if (waitMs === 0) return;
  const held = holders.flatMap((owner) => obstacleBy(owner, lock) ?? []);
  if (held.length === 0) return;
  try {
    const { holder } = await (lock.protocol.obstacle?.() ?? lock.protocol.describe());
    if (!held.some(({ owner }) => owner === holder)) return;
    const asker = `an owner of client ${lock.context.clientId}`;
    report(lock, new DeadlockError(lock.protocol.name, holder as string, asker).message);
  } catch {
    // The call itself finds out that the server does not answer.
  }
}

function report({ context }: Asked, message: string): void {
  context.runtime.report('warning', { code: 'HOLDFAST_SELF_WAIT', message });
}
