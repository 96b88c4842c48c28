/**
 * How the wish for a lock becomes a grant: who asks, by which name, who stands in line, and what is left behind
 * when it comes to nothing.
 */
import { acquire, type Contest } from '../runtime/acquire.ts';
import { bar, withdraw } from '../runtime/bar.ts';
import type { Owner } from '../runtime/owner.ts';
import type { Patience } from '../runtime/patience.ts';
import type { LockProtocol } from '../runtime/protocol.ts';
import type { Grant } from '../runtime/tenure.ts';
import type { HoldOptions } from './hold.ts';
import type { LockContext } from './lock-context.ts';

interface Claimable {
  readonly context: LockContext;
  readonly protocol: LockProtocol;
  readonly isShared: boolean;
}

/** What was granted, and the protocol that speaks for it from here on. */
export interface Claim {
  readonly protocol: LockProtocol;
  readonly grant: Grant;
}

/** Takes a lock under a fresh owner field; null when patience runs out. */
export async function claimLock(
  lock: Claimable,
  who: Owner | undefined,
  wish: HoldOptions,
  patience: Patience,
): Promise<Claim | null> {
  // Where many may be inside, each asks for itself before it queues up: only who has to wait stands in line.
  if (lock.isShared) {
    using once = patience.once();
    const claim = await contend(lock, who, wish, once, null);
    if (claim !== null || patience.isOver) return claim;
  }
  return contend(lock, who, wish, patience, lock.protocol.line);
}

async function contend(
  lock: Claimable,
  who: Owner | undefined,
  wish: HoldOptions,
  patience: Patience,
  line: string | null,
): Promise<Claim | null> {
  const { runtime, numbers } = lock.context;
  const fresh = numbers.next();
  const beginner = lock.protocol.begin?.(who, fresh) ?? { field: fresh, protocol: lock.protocol };
  const { field: owner, protocol } = beginner;
  const leaseMs = wish.leaseMs ?? runtime.watchdogMs;
  const waitMs = Math.max(0, patience.endsAt - runtime.clock.now());
  const contest: Contest<Grant> = {
    what: `acquire "${protocol.name}"`,
    waiting: protocol.waiting(owner),
    attempt: async () => {
      const sentAt = runtime.leaseClock.sendTime();
      const answer = await protocol.acquire(owner, leaseMs, waitMs);
      if (answer.status === 'busy') return { granted: false, remainingMs: answer.remainingMs };
      return { granted: true, value: { owner, sentAt, leaseMs, token: answer.token } };
    },
    abandon: () => bar(runtime, protocol, owner, Math.max(leaseMs, protocol.queueMs ?? 0)),
    // Where the server keeps a queue, or a note of who waits, it has to be left.
    ...(protocol.queueMs !== undefined &&
      waitMs > 0 && { withdraw: () => withdraw(runtime, protocol, owner) }),
  };
  const outcome = await acquire(contest, runtime.line(line), patience, runtime);
  if (!outcome.granted) return null;
  return { protocol, grant: { ...outcome.value, doubtful: outcome.doubtful } };
}
