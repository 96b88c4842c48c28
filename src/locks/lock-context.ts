/**
 * What all locks of a client share, and who is in the way of a caller.
 */
import { AcquireTimeoutError, type HeldBy } from '../errors.ts';
import type { RequestContext } from '../requests/requests.ts';
import type { Sections } from '../runtime/owner.ts';
import type { LockProtocol, LockState } from '../runtime/protocol.ts';

/** The state that all locks of a client share. */
export interface LockContext extends RequestContext {
  readonly clientId: string;
  readonly sections: Sections;
  /** The label of the client that an owner field names, if it is known. Never rejects. */
  labelOf(owner: string): Promise<string | undefined>;
}

/** Who is in the way of a caller, for its error. */
export async function heldBy({ labelOf }: LockContext, { holder, remainingMs }: LockState): Promise<HeldBy> {
  if (holder === null) return { remainingMs };
  return { holder, label: await labelOf(holder), remainingMs };
}

/** The error of a caller whose time is over, with the holder that is in its way. */
export async function timeoutError(
  { context, protocol }: { readonly context: LockContext; readonly protocol: LockProtocol },
  waitMs: number,
): Promise<AcquireTimeoutError> {
  try {
    const state = await (protocol.obstacle?.() ?? protocol.describe());
    return new AcquireTimeoutError(protocol.name, waitMs, await heldBy(context, state));
  } catch {
    // The error may lack the holder; the caller mainly needs to know that the wait is over.
    return new AcquireTimeoutError(protocol.name, waitMs);
  }
}
