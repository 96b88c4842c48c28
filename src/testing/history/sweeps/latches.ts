/**
 * A latch lets no waiter pass before it was counted down, and every waiter after that.
 *
 * A `set` is recorded when the count is set, and a latch is set again only at zero.
 */
import type { Call, Digest, KeyDigest } from '../digest.ts';
import type { Violation } from '../verdict.ts';
import { Calm } from './calm.ts';
import type { Case } from './sweep.ts';

export function checkLatches(history: Case): Violation[] {
  const latches = [...history.digest.keys.values()].filter(({ calls }) => calls.await.length > 0);
  const calm = new Calm(history.digest, history.bounds);
  return latches.flatMap((key) => [...early(history, key), ...leftBehind(history, key, calm)]);
}

/**
 * Sound: a waiter that called after a count was set can pass only when all of it was counted down, and no count falls
 * before the call that lowers it.
 */
function early({ digest }: Case, latch: KeyDigest): Violation[] {
  const { key, calls } = latch;
  const countedNs = calls.countDown.map(({ invoke }) => invoke.atNs).sort((a, b) => a - b);
  return calls.await.flatMap((call) => {
    const { invoke, outcome } = call;
    const needed = setBefore(latch, invoke.atNs);
    if (outcome?.type !== 'ok' || needed === 0) return [];
    if ((countedNs[needed - 1] ?? Number.POSITIVE_INFINITY) <= outcome.atNs) return [];
    const counted = countedNs.filter((atNs) => atNs <= outcome.atNs).length;
    const { proc, worker } = invoke;
    const text =
      `${proc}/${worker} passed "${key}" at ${digest.at(outcome.atNs)}, when ${counted} of ${needed} had been ` +
      'counted down';
    return [{ kind: 'latch-opened-early', key, text, ...about(digest, call) }];
  });
}

/**
 * Sound: when as many count-downs were confirmed as were ever set, the latch is open, unless a fault undid some of
 * them.
 */
function leftBehind({ digest, bounds }: Case, latch: KeyDigest, calm: Calm): Violation[] {
  const { key, sets, calls } = latch;
  if (digest.faults.some(({ removesHolds }) => removesHolds)) return [];
  const confirmed = calls.countDown.flatMap(({ outcome }) => (outcome?.type === 'ok' ? [outcome.atNs] : []));
  const openNs = confirmed.sort((a, b) => a - b)[setBefore(latch, digest.endNs) - 1];
  const lastSetNs = sets.at(-1)?.atNs;
  if (openNs === undefined || lastSetNs === undefined || openNs < lastSetNs) return [];
  return calls.await.flatMap((call) => {
    const { proc, worker, atNs } = call.invoke;
    if (call.outcome === undefined && Number.isFinite(digest.diedNs(proc))) return [];
    const waitedNs = [Math.max(openNs, atNs), Math.min(digest.endOf(call), digest.endNs)] as const;
    if (calm.longerThan(bounds.takeoverMs * 1e6, proc, waitedNs) === undefined) return [];
    const text = `${proc}/${worker} waited for "${key}" until ${digest.at(waitedNs[1])}, which had been open since ${digest.at(openNs)}`;
    return [{ kind: 'left-behind', key, text, ...about(digest, call) }];
  });
}

function setBefore({ sets }: KeyDigest, atNs: number): number {
  return sets.filter((set) => set.atNs <= atNs).reduce((sum, { count = 0 }) => sum + count, 0);
}

function about(digest: Digest, call: Call): Pick<Violation, 'fromNs' | 'toNs' | 'holds' | 'procs'> {
  const toNs = Math.min(digest.endOf(call), digest.endNs);
  return { fromNs: call.invoke.atNs, toNs, holds: [], procs: [call.invoke.proc] };
}
