/**
 * When a key may be taken on the server, judged by the whole history: longer than any holder believed, so a key that is
 * free here is surely free.
 */
import type { Call, Digest, HoldStory, KeyDigest } from './digest.ts';
import type { CheckBounds } from './verdict.ts';

/** A hold, or an acquisition, that may occupy this many permits of a key on the server. */
export interface Occupant {
  readonly fromNs: number;
  readonly toNs: number;
  readonly permits: number;
  /** Whether it begins with a grant. */
  readonly isGrant: boolean;
}

/** Concurrent acquisitions of one worker are members of one multi lock. */
export function groupMembers({ calls }: Digest): ReadonlySet<Call> {
  const members = new Set<Call>();
  /** The latest acquisition of each worker, by process. */
  const latest = new Map<string, Map<string, Call>>();
  for (const call of calls) {
    const { op, proc, worker, atNs } = call.invoke;
    if (op !== 'acquire') continue;
    const ofProc = latest.get(proc) ?? new Map<string, Call>();
    latest.set(proc, ofProc);
    const before = ofProc.get(worker);
    if (before !== undefined && (before.outcome?.atNs ?? Number.POSITIVE_INFINITY) > atNs) {
      members.add(before).add(call);
    }
    ofProc.set(worker, call);
  }
  return members;
}

export function occupantsOf(
  digest: Digest,
  { holds, calls }: KeyDigest,
  groups: ReadonlySet<Call>,
  bounds: CheckBounds,
): Occupant[] {
  const occupants: Occupant[] = holds.map((hold) => ({
    fromNs: hold.grantedNs,
    toNs: surelyOverNs(digest, hold),
    permits: hold.permits,
    isGrant: true,
  }));
  for (const call of calls.acquire) {
    const { proc, atNs: fromNs, permits = 1 } = call.invoke;
    const toNs = maybeUntilNs(digest, call, groups.has(call), bounds);
    if (toNs !== undefined) occupants.push({ fromNs, toNs, permits, isGrant: false });
    // A request in flight when the process stalled may have been granted; and its place in a queue remains.
    const endNs = digest.endOf(call);
    for (const [stallNs, goesOnNs] of digest.stallsOf(proc).parts(fromNs, endNs)) {
      occupants.push({ fromNs: stallNs, toNs: goesOnNs, permits, isGrant: false });
    }
  }
  return occupants;
}

/**
 * When the server has surely freed it. No lease is renewed after the holder released it, lost it or died, and the last
 * renewal ends after one lease.
 */
export function surelyOverNs(digest: Digest, { release, lost, deadlineNs, kind, proc }: HoldStory): number {
  if (release?.outcome?.type === 'ok') return release.outcome.atNs;
  if (kind === 'semaphore') return Number.POSITIVE_INFINITY;
  const lostNs = lost?.atNs ?? Number.POSITIVE_INFINITY;
  const isPermanent = !Number.isFinite(deadlineNs);
  if (isPermanent) return lostNs + digest.longestLeaseNs;
  return Math.min(lostNs, release?.invoke.atNs ?? lostNs, digest.diedNs(proc)) + digest.longestLeaseNs;
}

/**
 * Until when an acquisition without a hold may still occupy the key: because it is in doubt, or a member of a group
 * that is not yet complete. Undefined if it occupies nothing.
 */
export function maybeUntilNs(
  digest: Digest,
  call: Call,
  isMember: boolean,
  { settleMs, silentMs }: CheckBounds,
): number | undefined {
  const { invoke, outcome } = call;
  const isInDoubt = outcome === undefined ? Number.isFinite(digest.endOf(call)) : outcome.type === 'info';
  if (!isInDoubt) return isMember ? digest.endOf(call) + settleMs * 1e6 : undefined;
  if (invoke.kind === 'semaphore') return Number.POSITIVE_INFINITY;
  return digest.endOf(call) + Math.max(digest.longestLeaseNs, silentMs * 1e6);
}
