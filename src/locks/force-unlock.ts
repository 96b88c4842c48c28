/**
 * Ends the hold of whoever has a lock at the time of the call, and tells those of this client whose hold that was.
 */

import { Requests } from '../requests/requests.ts';
import type { LockProtocol } from '../runtime/protocol.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Tenure } from '../runtime/tenure.ts';
import type { LockContext } from './lock-context.ts';

/** Answers whether anybody held it. An owner that takes it after that is left alone, however late the server is told. */
export async function forceUnlock(context: LockContext, protocol: LockProtocol): Promise<boolean> {
  const { runtime } = context;
  const { name, key } = protocol;
  const requests = new Requests(context, name, key);
  const holders = await requests.read('describe', () => protocol.holders());
  if (holders.length === 0) return false;
  const ours = () => tenuresOf(runtime, key).filter(({ owner }) => holders.includes(owner));
  // Our own holders are told before the server can let anyone else in.
  for (const tenure of ours()) tenure.lose('forced');
  await requests.change('force-release', ({ answer, rememberMs }) =>
    protocol.forceRelease(holders, answer, rememberMs),
  );
  // The server may have named one whose grant was still on its way here.
  for (const tenure of ours()) tenure.revoke('forced');
  runtime.look(protocol.line);
  return true;
}

/** What this client holds of a lock. */
export function tenuresOf(runtime: Runtime, key: string): Tenure[] {
  return [...runtime.tenures].filter(({ protocol }) => protocol.key === key);
}
