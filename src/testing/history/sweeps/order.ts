/**
 * Waiters of a fair lock are granted in the order of the server's list.
 *
 * Sound: a list that shows X ahead of Y was made before Y was granted. Both keep the place of their owner field, so if
 * Y is granted before X, Y overtook X; unless X lost its place because it fell silent, which takes a fault or a stalled
 * process, or because its grant was forced away before X received it.
 */
import type { HoldStory, KeyDigest } from '../digest.ts';
import { Spans } from '../spans.ts';
import type { Violation } from '../verdict.ts';
import { Calm } from './calm.ts';
import { type Case, named, violation } from './sweep.ts';

export function checkOrder(history: Case): Violation[] {
  const { faults } = new Calm(history.digest, history.bounds);
  return [...history.digest.keys.values()]
    .filter(({ queues }) => queues.length > 0)
    .flatMap((key) => overtakings(history, key, faults));
}

function overtakings({ digest, bounds }: Case, keyDigest: KeyDigest, faults: Spans): Violation[] {
  const { key, queues, holds, calls } = keyDigest;
  const found: Violation[] = [];
  const settleNs = bounds.settleMs * 1e6;
  // The first hold of an owner is the one it queued for; the others re-entered.
  const byOwner = new Map([...holds].reverse().map((hold) => [hold.owner ?? '', hold]));
  const forces = new Spans(calls.force.map((force) => [force.invoke.atNs, digest.endOf(force)] as const));
  const told = new Set<HoldStory>();
  for (const { atNs, queue = [] } of queues) {
    /** The hold granted last among those ahead. */
    let ahead: HoldStory | undefined;
    for (const owner of queue) {
      const hold = byOwner.get(owner);
      // A waiter that gave up has no grant, and leaves its place.
      if (hold === undefined || hold.grantedNs < atNs) continue;
      if (ahead === undefined || hold.grantedNs > ahead.grantedNs) {
        ahead = hold;
        continue;
      }
      const isExcused =
        faults.touches(atNs, ahead.grantedNs) ||
        forces.touches(atNs, ahead.grantedNs) ||
        digest.stallsOf(ahead.proc).touches(atNs - settleNs, hold.grantedNs);
      if (isExcused || told.has(hold)) continue;
      told.add(hold);
      const text =
        `${named(hold)} was granted "${key}" at ${digest.at(hold.grantedNs)}, before ${named(ahead)} at ` +
        `${digest.at(ahead.grantedNs)}, which was ahead of it in the queue at ${digest.at(atNs)}`;
      found.push(violation('out-of-order', [ahead, hold], [atNs, ahead.grantedNs], text));
    }
  }
  return found;
}
