/**
 * At the end all permits are available, except those that dead processes kept.
 *
 * Sound: where permits have no lease, a process that dies keeps what it holds; what it was acquiring or releasing then
 * it may keep or not. A live process has settled its doubts by the end. A permit with a lease becomes available when
 * the lease ends.
 */
import type { Digest, KeyDigest } from '../digest.ts';
import type { HistoryEvent } from '../event.ts';
import type { Violation } from '../verdict.ts';
import type { Case } from './sweep.ts';

export function checkConservation(history: Case): Violation[] {
  const found: Violation[] = [];
  for (const key of history.digest.keys.values()) {
    const left = key.lefts.findLast(({ permits }) => permits !== undefined);
    const total = key.sets.findLast(({ permits }) => permits !== undefined)?.permits;
    if (left?.permits === undefined || total === undefined) continue;
    const { sure, doubtful } = keptAt(history.digest, key, left);
    const most = total - sure;
    if (left.permits <= most && left.permits >= most - doubtful) continue;
    const expected = doubtful === 0 ? `${most}` : `${most - doubtful} to ${most}`;
    found.push({
      kind: 'not-conserved',
      key: key.key,
      text:
        `${left.permits} permits of "${key.key}" were free at ${history.digest.at(left.atNs)}, but there must be ` +
        `${expected} of ${total}`,
      fromNs: left.atNs,
      toNs: left.atNs,
      holds: key.holds.filter(({ release }) => release?.outcome?.type !== 'ok').map(({ id }) => id),
      procs: [],
    });
  }
  return found;
}

/** How many permits are surely kept, and how many more may be. */
function keptAt(digest: Digest, key: KeyDigest, left: HistoryEvent): { sure: number; doubtful: number } {
  let [sure, doubtful] = [0, 0];
  for (const { release, proc, permits, kind, ...hold } of key.holds) {
    if (release?.outcome?.type === 'ok') continue;
    if (kind === 'permit') {
      const endNs = Math.max(hold.lost?.atNs ?? 0, release?.invoke.atNs ?? 0, finite(digest.diedNs(proc)));
      doubtful += isLeased(digest, Math.max(endNs, hold.deadlineNs), left) ? permits : 0;
    } else if (release === undefined) sure += permits;
    else if (Number.isFinite(digest.diedNs(proc))) doubtful += permits;
  }
  for (const { invoke, outcome } of key.calls.acquire) {
    const diedNs = digest.diedNs(invoke.proc);
    const isDoubtful = outcome === undefined || outcome.type === 'info';
    if (!isDoubtful || !Number.isFinite(diedNs)) continue;
    if (invoke.kind !== 'permit' || isLeased(digest, diedNs, left)) doubtful += invoke.permits ?? 1;
  }
  return { sure, doubtful };
}

/** Whether a lease last renewed before `sinceNs` may still run. */
function isLeased({ longestLeaseNs }: Digest, sinceNs: number, left: HistoryEvent): boolean {
  return sinceNs + longestLeaseNs > left.atNs;
}

function finite(ns: number): number {
  return Number.isFinite(ns) ? ns : 0;
}
