/**
 * Fencing tokens rise from grant to grant, stay the same on re-entry, and a fence accepts no older token.
 */
import type { Call, HoldStory, KeyDigest } from '../digest.ts';
import type { Violation } from '../verdict.ts';
import { type Case, named, violation } from './sweep.ts';

interface Fenced extends HoldStory {
  readonly token: number;
}

export function checkTokens(history: Case): Violation[] {
  const found: Violation[] = [];
  for (const key of history.digest.keys.values()) {
    const holds = key.holds.filter((hold): hold is Fenced => hold.token !== undefined);
    found.push(...fallen(history, key, holds), ...fencedWrites(history, key));
  }
  return found;
}

/**
 * Sound: a grant requested after another was received is the later one. Of two concurrent requests, the grant received
 * later is the later one, too, since a held lock is not granted: unless the other was removed from the server in
 * between; then the order of these two is not judged.
 */
function fallen(history: Case, key: KeyDigest, holds: readonly Fenced[]): Violation[] {
  const found: Violation[] = [];
  const inOrder = [...holds].sort((a, b) => a.grantedNs - b.grantedNs);
  /** For each index, the hold with the highest token up to it. */
  const highest: Fenced[] = [];
  /** The holds of a party that may still be inside, the latest last. */
  const inside = new Map<string, Fenced[]>();
  for (const hold of inOrder) {
    const open = inside.get(hold.party)?.filter((each) => endNs(history, each) > hold.grantedNs) ?? [];
    const outer = open.find(({ grantedNs }) => grantedNs <= hold.invokedNs);
    inside.set(hold.party, [...open, hold]);
    if (outer !== undefined && outer.token !== hold.token) {
      const text =
        `${named(hold)} re-entered "${key.key}" at ${history.digest.at(hold.grantedNs)} and got token ${hold.token}; ` +
        `${named(outer)} around it has ${outer.token}`;
      found.push(violation('token-changed', [outer, hold], [outer.grantedNs, hold.grantedNs], text));
    }
    if (outer === undefined) {
      const before = highestBefore(history, key, highest, hold);
      if (before !== undefined && before.token >= hold.token) found.push(fell(history, before, hold));
    }
    const last = highest.at(-1);
    highest.push(last !== undefined && last.token >= hold.token ? last : hold);
  }
  return found;
}

function fell({ digest }: Case, before: Fenced, hold: Fenced): Violation {
  const text =
    `${named(hold)} got token ${hold.token} of "${hold.key}" at ${digest.at(hold.grantedNs)}, ` +
    `after ${named(before)} had got ${before.token} at ${digest.at(before.grantedNs)}`;
  return violation('token-fell', [before, hold], [before.grantedNs, hold.grantedNs], text);
}

function endNs({ digest }: Case, { release, lost, proc }: Fenced): number {
  const ends = [release?.invoke.atNs, lost?.atNs, digest.diedNs(proc)];
  return Math.min(...ends.filter((end) => end !== undefined));
}

/** The hold with the highest token among those surely granted before. */
function highestBefore(
  { digest, bounds }: Case,
  { calls }: KeyDigest,
  highest: readonly Fenced[],
  { invokedNs, grantedNs }: Fenced,
): Fenced | undefined {
  const settleNs = bounds.settleMs * 1e6;
  const mayBeRemoved =
    calls.force.some((force) => force.invoke.atNs <= grantedNs && digest.endOf(force) >= invokedNs) ||
    digest.faults.some(
      ({ removesHolds, fromNs, toNs }) => removesHolds && fromNs <= grantedNs && toNs + settleNs >= invokedNs,
    );
  if (!mayBeRemoved) return highest.at(-1);
  return highest.findLast((_, place) => (highest[place]?.grantedNs ?? 0) < invokedNs);
}

/** Sound: of two writes, the fence saw the one first that had ended before the other began. */
function fencedWrites({ digest }: Case, { key, calls }: KeyDigest): Violation[] {
  const found: Violation[] = [];
  const passed = calls.write.filter(
    (write) => write.outcome?.type === 'ok' && (write.invoke.token ?? write.outcome.token) !== undefined,
  );
  const byEnd = [...passed].sort((a, b) => digest.endOf(a) - digest.endOf(b));
  let done = 0;
  let newest: Call | undefined;
  for (const write of passed) {
    for (; digest.endOf(byEnd[done] as Call) < write.invoke.atNs; done += 1) {
      if (tokenOf(byEnd[done] as Call) > tokenOf(newest)) newest = byEnd[done];
    }
    if (newest === undefined || tokenOf(write) >= tokenOf(newest)) continue;
    const { proc, worker, atNs, hold } = write.invoke;
    found.push({
      kind: 'token-fell',
      key,
      text:
        `${proc}/${worker} wrote to "${key}" with token ${tokenOf(write)} at ${digest.at(atNs)}, ` +
        `after ${newest.invoke.proc}/${newest.invoke.worker} had written with ${tokenOf(newest)}`,
      fromNs: newest.invoke.atNs,
      toNs: digest.endOf(write),
      holds: [newest.invoke.hold, hold].filter((each) => each !== undefined),
      procs: [...new Set([newest.invoke.proc, proc])],
    });
  }
  return found;
}

function tokenOf(write: Call | undefined): number {
  return write?.invoke.token ?? write?.outcome?.token ?? Number.NEGATIVE_INFINITY;
}
