/**
 * Ends a tenure on the server. The owner learns whether it held the lock until then, even if replies get lost.
 */
import { tracesReleases } from '../channels.ts';
import { serverTime } from '../clock.ts';
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

function send(runtime: Runtime, ending: Ending): Promise<ReleaseAnswer> {
  const { protocol, owner, isDoubtful } = ending;
  const what = `release "${protocol.name}"`;
  const isPlain = protocol.guarded === undefined && protocol.writesOnce === true && !isDoubtful;
  if (isPlain && protocol.release !== undefined) {
    // No copy of the owner's commands can arrive later, so the server need not remember that the hold is over. If the
    // reply is lost, the repeat leaves a tombstone.
    return retryCommand(runtime, what, protocol.release(owner), (error) =>
      mayHaveRun(error) ? () => endAfterLostReply(runtime, ending) : () => end(runtime, ending),
    );
  }
  const sentAt = serverTime(runtime.clock);
  const ended = retryCommand(runtime, what, end(runtime, ending), () => () => end(runtime, ending));
  const { guarded } = protocol;
  if (guarded === undefined) return ended;
  return ended.then((answer): ReleaseAnswer | Promise<ReleaseAnswer> => {
    if (answer !== 'lost') return answer;
    // A server in its grace has forgotten the hold and let no other owner in: the owner held the lock until now.
    const leftMs = Math.max(0, sentAt + runtime.commandTimeoutMs - serverTime(runtime.clock));
    return retry(runtime, what, async () => ((await guarded.isGrace()) ? 'released' : 'lost'), leftMs);
  });
}

/** Ends the hold and leaves a tombstone; while a copy of the attempt may be on its way, one that outlasts it. */
function end(
  { rememberMs }: Runtime,
  { protocol, owner, lease, isDoubtful }: Ending,
): Promise<ReleaseAnswer> {
  return protocol.end(owner, isDoubtful ? tombstoneMs(lease.longestMs) : rememberMs);
}

/** A hold that is gone before its lease has ended was released by the command whose reply was lost. */
async function endAfterLostReply(runtime: Runtime, ending: Ending): Promise<ReleaseAnswer> {
  const answer = await end(runtime, ending);
  return answer === 'lost' && runtime.leaseClock.now() < ending.lease.leaseEndsAt ? 'released' : answer;
}
