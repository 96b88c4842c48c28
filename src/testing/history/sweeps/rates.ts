/**
 * A rate limiter grants no more than its rate in any interval.
 *
 * Sound: a grant happens between its invocation and its outcome, so only calls entirely within an interval count. The
 * interval is a little shorter than the server's, since two clocks may drift apart. Setting the rate starts anew.
 * Permits returned meanwhile may be granted again.
 */
import type { Call, KeyDigest } from '../digest.ts';
import type { HistoryEvent } from '../event.ts';
import type { Violation } from '../verdict.ts';
import type { Case } from './sweep.ts';

/** Clocks of good machines drift apart by less. */
const DRIFT = 0.01;
/** The server counts in whole milliseconds. */
const ROUNDING_NS = 2e6;

interface Grant {
  readonly call: Call;
  readonly fromNs: number;
  readonly toNs: number;
  readonly permits: number;
}

export function checkRates(history: Case): Violation[] {
  const found: Violation[] = [];
  for (const key of history.digest.keys.values()) {
    const rates = key.sets.filter(({ intervalMs }) => intervalMs !== undefined);
    for (const [place, rate] of rates.entries()) {
      const untilNs = rates[place + 1]?.atNs ?? Number.POSITIVE_INFINITY;
      const grants = grantsOf(key).filter(({ fromNs, toNs }) => fromNs >= rate.atNs && toNs < untilNs);
      found.push(...exceeded(history, key, rate, grants));
    }
  }
  return found;
}

function grantsOf({ calls }: KeyDigest): Grant[] {
  return calls.acquire.flatMap((call) => {
    const { invoke, outcome } = call;
    if (outcome?.type !== 'ok') return [];
    return [{ call, fromNs: invoke.atNs, toNs: outcome.atNs, permits: outcome.permits ?? 1 }];
  });
}

function exceeded(
  { digest }: Case,
  { key, calls }: KeyDigest,
  { permits: rate = 1, intervalMs = 0 }: HistoryEvent,
  grants: readonly Grant[],
): Violation[] {
  const found: Violation[] = [];
  const intervalNs = intervalMs * 1e6 * (1 - DRIFT) - ROUNDING_NS;
  const byEnd = [...grants].sort((a, b) => a.toNs - b.toNs);
  const byStart = [...grants].sort((a, b) => a.fromNs - b.fromNs);
  const within = new Set<Grant>();
  const tooEarly = new Set<Grant>();
  let [granted, left, toldNs] = [0, 0, Number.NEGATIVE_INFINITY];
  for (const grant of byEnd) {
    const fromNs = grant.toNs - intervalNs;
    for (; left < byStart.length && (byStart[left] as Grant).fromNs <= fromNs; left += 1) {
      const gone = byStart[left] as Grant;
      tooEarly.add(gone);
      if (within.delete(gone)) granted -= gone.permits;
    }
    if (tooEarly.has(grant)) continue;
    within.add(grant);
    granted += grant.permits;
    if (granted <= rate || fromNs < toldNs) continue;
    const back = calls.release
      .filter((call) => call.invoke.atNs <= grant.toNs && digest.endOf(call) >= fromNs)
      .reduce((sum, { invoke }) => sum + (invoke.permits ?? 1), 0);
    if (granted <= rate + back) continue;
    toldNs = grant.toNs;
    const firstNs = Math.min(...[...within].map((each) => each.fromNs));
    found.push({
      kind: 'rate-exceeded',
      key,
      text:
        `"${key}" granted ${granted} permits between ${digest.at(firstNs)} and ${digest.at(grant.toNs)}; its rate is ` +
        `${rate} in ${intervalMs} ms`,
      fromNs: firstNs,
      toNs: grant.toNs,
      holds: [],
      procs: [...new Set([...within].map(({ call }) => call.invoke.proc))],
    });
  }
  return found;
}
