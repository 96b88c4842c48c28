/**
 * Everything ends: every call settles, every hold is released or lost, nothing is left at the end, and no owner field
 * is used again.
 */
import type { Call, Digest, HoldStory } from '../digest.ts';
import type { Violation } from '../verdict.ts';
import { type Case, named, violation } from './sweep.ts';

export function checkEndings({ digest }: Case): Violation[] {
  return [...hung(digest), ...leaks(digest), ...reused(digest)];
}

/** Sound: the history is complete, and a live process answers every call. */
function hung(digest: Digest): Violation[] {
  const isHung = (call: Call) => digest.endOf(call) === Number.POSITIVE_INFINITY;
  return digest.calls.filter(isHung).map(({ invoke: { proc, worker, op, key, atNs, hold } }) => ({
    kind: 'hung',
    key,
    text: `${proc}/${worker} asked to ${op} "${key}" at ${digest.at(atNs)} and got no answer`,
    fromNs: atNs,
    toNs: digest.endNs,
    holds: hold === undefined ? [] : [hold],
    procs: [proc],
  }));
}

/** Sound: a worker releases everything it acquires, and a closed client notifies its holders. */
function leaks(digest: Digest): Violation[] {
  const found: Violation[] = [];
  for (const hold of digest.holds) {
    const { lost, release, proc, key, grantedNs } = hold;
    if (lost !== undefined || release !== undefined || Number.isFinite(digest.diedNs(proc))) continue;
    const text = `${named(hold)} took "${key}" at ${digest.at(grantedNs)}, and neither released it nor lost it`;
    found.push(violation('leak', [hold], [grantedNs, digest.endNs], text));
  }
  for (const { key, lefts } of digest.keys.values()) {
    for (const { what, atNs, proc } of lefts) {
      if (what === undefined) continue;
      const text = `Left over at the end: ${what}`;
      found.push({ kind: 'leak', key, text, fromNs: atNs, toNs: atNs, holds: [], procs: [proc] });
    }
  }
  return found;
}

interface Use {
  readonly first: HoldStory;
  endNs: number;
}

/**
 * Sound: an owner field belongs to one tenure. Handles share it by re-entering, or when one passes the lock on to the
 * next inside a process; then no other owner is granted in between. A field that became free, and is granted again
 * after another owner, is used for a second tenure; so is a field that two processes use.
 */
function reused(digest: Digest): Violation[] {
  const found: Violation[] = [];
  for (const { holds } of digest.keys.values()) {
    const uses = new Map<string, Use>();
    let [last, other]: (HoldStory | undefined)[] = [];
    for (const hold of holds) {
      const { owner } = hold;
      if (owner === undefined) continue;
      if (last !== undefined && last.owner !== owner) other = last;
      const use = uses.get(owner);
      const isAgain = use !== undefined && other !== undefined && other.grantedNs > use.endNs;
      if (use !== undefined && (isAgain || use.first.proc !== hold.proc)) {
        const text =
          `The owner ${owner} of ${named(use.first)} was granted "${hold.key}" again at ` +
          `${digest.at(hold.grantedNs)}, as ${named(hold)}`;
        found.push(violation('owner-reused', [use.first, hold], [use.first.grantedNs, hold.grantedNs], text));
      }
      uses.set(owner, { first: use?.first ?? hold, endNs: Math.max(use?.endNs ?? 0, endOf(hold)) });
      last = hold;
    }
  }
  return found;
}

function endOf({ lost, release }: HoldStory): number {
  const ends = [lost?.atNs, release?.invoke.atNs].filter((end) => end !== undefined);
  return ends.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...ends);
}
