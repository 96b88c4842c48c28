/**
 * Ends a tenure on the server. The owner learns whether it held the lock until then, even if replies get lost.
 */
import { tracesReleases } from '../channels.ts';
import { mayHaveRun } from '../outcome.ts';
import { traceRelease } from '../tracing.ts';
import type { Lease } from './lease-deadline.ts';
import type { ReleaseAnswer, TenureProtocol } from './protocol.ts';
import { retry, retryCommand } from './retry.ts';
import type { Runtime } from './runtime.ts';
import { tombstoneMs } from './tombstone.ts';

/** The data needed to end a tenure. */
export interface Ending {
  readonly protocol: TenureProtocol;
  readonly owner: string;
  readonly lease: Lease;
  /** A copy of the attempt that was granted may still be on its way. */
  readonly isDoubtful: boolean;
}

export function release(runtime: Runtime, ending: Ending): Promise<ReleaseAnswer> {
  if (!tracesReleases()) return send(runtime, ending);
  const { kind, name } = ending.protocol;
  const permits = kind === 'permitSemaphore' ? 1 : undefined;
  const about = { kind, name, owner: ending.owner, permits };
  return traceRelease(
    runtime,
    about,
    () => send(runtime, ending),
    (answer) => answer === 'lost',
  );
}

function send(runtime: Runtime, { protocol, owner, lease, isDoubtful }: Ending): Promise<ReleaseAnswer> {
  const { guarded } = protocol;
  const what = `release "${protocol.name}"`;
  // A late copy of the attempt must not take the lock again.
  const rememberMs = isDoubtful ? tombstoneMs(lease.longestMs) : runtime.rememberMs;
  const end = () => protocol.end(owner, rememberMs);
  if (guarded !== undefined) {
    return retry(runtime, what, async () => {
      const released = await end();
      // A server in its grace has forgotten the hold and let no other owner in: the owner held the lock until now.
      return released === 'lost' && (await guarded.isGrace()) ? 'released' : released;
    });
  }
  const needsTombstone = protocol.writesOnce !== true || isDoubtful;
  if (needsTombstone || protocol.release === undefined) return retryCommand(runtime, what, end(), () => end);
  // No copy of the owner's commands can arrive later, so the server need not remember that the hold is over. If the
  // reply is lost, the repeat leaves a tombstone. A hold gone before its lease ended was released by the first command.
  const endAfterLostReply = async () => {
    const answer = await end();
    const isBeforeItsEnd = runtime.leaseClock.now() < lease.leaseEndsAt;
    return answer === 'lost' && isBeforeItsEnd ? 'released' : answer;
  };
  return retryCommand(runtime, what, protocol.release(owner), (error) =>
    mayHaveRun(error) ? endAfterLostReply : end,
  );
}
