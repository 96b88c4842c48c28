/**
 * Ends a lock whoever holds it, and tells those of this client whose hold that was.
 */
import { persist } from '../runtime/persist.ts';
import type { LockProtocol } from '../runtime/protocol.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Tenure } from '../runtime/tenure.ts';
import type { LockContext } from './lock-context.ts';

/** Answers whether anybody held it. */
export async function forceUnlock(
  { runtime, numbers }: LockContext,
  protocol: LockProtocol,
): Promise<boolean> {
  const { key, reach } = protocol;
  const ended = reach && (await ask(runtime, protocol, 'describe', () => reach.call(protocol)));
  const ours = () =>
    [...runtime.tenures].filter(
      (tenure) => tenure.protocol.key === key && (ended?.includes(tenure.protocol.identity) ?? true),
    );
  // Our own holders are told before the server can let anyone else in.
  for (const tenure of ours()) tenure.lose('forced');
  const request = numbers.next();
  const answer = await ask(runtime, protocol, 'force-release', () => protocol.forceRelease(request));
  if (answer === 'released') {
    // Others of ours may have been let in before it was ended: while the script was made known to the server, or by an
    // acquisition whose reply came first but takes some more turns to become a hold.
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(
      ours().map(async (tenure) => {
        if (!(await isThere(runtime, tenure))) tenure.revoke('forced');
      }),
    );
  }
  runtime.look(protocol.line);
  return answer === 'released';
}

/** Whether the server has the hold; when it cannot be asked, it is taken to be gone. */
async function isThere(runtime: Runtime, { protocol, owner, count }: Tenure): Promise<boolean> {
  const look = () => protocol.renew([protocol.key], 1, [owner], [count]);
  const [held] = await ask(runtime, protocol, 'describe', look).catch(() => [0]);
  return held === 1;
}

function ask<T>(
  runtime: Runtime,
  { name }: { readonly name: string },
  verb: string,
  call: () => Promise<T>,
): Promise<T> {
  return persist(runtime.clock, runtime.commandTimeoutMs, `${verb} "${name}"`, call);
}
