/**
 * Ends the holds that a lock has at the time of the call, and notifies their holders in this client.
 */

import { tracesReleases } from '../channels.ts';
import { Requests } from '../requests/requests.ts';
import type { LockProtocol } from '../runtime/protocol.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Tenure } from '../runtime/tenure.ts';
import { traceRelease } from '../tracing.ts';
import type { LockContext } from './lock-context.ts';

/**
 * Answers whether the lock was held. An owner that takes it later keeps it, however late the server gets the call.
 *
 * @param isMeant which of the holders to end; all of them, unless told
 */
export async function forceUnlock(
  context: LockContext,
  protocol: LockProtocol,
  isMeant: (holder: string) => boolean = () => true,
): Promise<boolean> {
  const { runtime } = context;
  const { kind, name, key } = protocol;
  const requests = new Requests(context, name, key);
  const named = await requests.read('describe', () => protocol.holders());
  const holders = named.filter(isMeant);
  if (holders.length === 0) return false;
  const ours = () => tenuresOf(runtime, key).filter(({ owner }) => holders.includes(owner));
  // Holders in this client learn of the loss before the server can grant the lock to another owner.
  for (const tenure of ours()) tenure.lose('forced');
  const end = () =>
    requests.change('force-release', ({ answer, rememberMs }) =>
      protocol.forceRelease(holders, answer, rememberMs),
    );
  if (tracesReleases()) {
    const owner = holders.length === 1 ? holders[0] : undefined;
    await traceRelease(runtime, { kind, name, owner }, end, () => false);
  } else await end();
  // The server may have named a holder whose grant had not reached this client yet.
  for (const tenure of ours()) tenure.revoke('forced');
  runtime.lines.wake(protocol.line);
  return true;
}

/** The tenures that this client has of a lock. */
export function tenuresOf(runtime: Runtime, key: string): Tenure[] {
  return [...runtime.tenures].filter(({ protocol }) => protocol.key === key);
}
