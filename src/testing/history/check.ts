/**
 * Judges a history: was everything in it allowed?
 *
 * Every rule is sound: an allowed history breaks none of them, whatever happened between the recorded events. A rule
 * may therefore miss violations that only the server's internal state would show.
 */
import type { HistoryEvent } from './event.ts';
import { digestOf } from './reading.ts';
import { searchSamples } from './search-samples.ts';
import { checkConservation } from './sweeps/conservation.ts';
import { checkEndings } from './sweeps/endings.ts';
import { checkExclusion } from './sweeps/exclusion.ts';
import { checkLatches } from './sweeps/latches.ts';
import { checkLosses, latenessNs } from './sweeps/losses.ts';
import { checkOrder } from './sweeps/order.ts';
import { checkPermits } from './sweeps/permits.ts';
import { checkRates } from './sweeps/rates.ts';
import { checkRenewals } from './sweeps/renewals.ts';
import type { Case, Sweep } from './sweeps/sweep.ts';
import { checkTakeover, worstTakeoverNs } from './sweeps/takeover.ts';
import { checkTokens } from './sweeps/tokens.ts';
import { type CheckBounds, DEFAULT_BOUNDS, type Figures, type Verdict } from './verdict.ts';
import { Windows } from './windows.ts';

const SWEEPS: readonly Sweep[] = [
  checkExclusion,
  checkPermits,
  checkConservation,
  checkTokens,
  checkOrder,
  checkLatches,
  checkRates,
  checkLosses,
  checkRenewals,
  checkTakeover,
  checkEndings,
];

/**
 * Checks a recorded history, after everything has ended.
 *
 * @example
 * ```ts
 * import type { HistoryEvent } from 'holdfast/testing';
 *
 * const events: HistoryEvent[] = [];
 * const recorder = new Recorder('worker-1', (event) => events.push(event));
 * const lock = client.getLock('invoice:42');
 * const held = await recorder.acquire({ worker: 'a', key: lock.name, kind: 'lock' }, () => lock.lock());
 * await held?.release(() => held.hold.unlock());
 * const { verdict, violations } = checkHistory(events);
 * console.log(verdict); // valid
 * for (const violation of violations) console.error(describeViolation(events, violation));
 * ```
 */
export function checkHistory(events: readonly HistoryEvent[], bounds: Partial<CheckBounds> = {}): Verdict {
  const all = { ...DEFAULT_BOUNDS, ...bounds };
  const digest = digestOf(events);
  const history: Case = { digest, windows: new Windows(digest, all.settleMs), bounds: all };
  const { unexplained, gaveUp } = searchSamples(history);
  const swept = SWEEPS.flatMap((sweep) => sweep(history));
  const violations = [...swept, ...unexplained].sort((a, b) => a.fromNs - b.fromNs);
  const otherwise = gaveUp ? 'unknown' : 'valid';
  return {
    verdict: violations.length > 0 ? 'invalid' : otherwise,
    violations,
    figures: figuresOf(history),
  };
}

function figuresOf(history: Case): Figures {
  const { digest, windows } = history;
  const losses: Record<string, number> = {};
  let latestNs = 0;
  for (const hold of digest.holds) {
    const { lost } = hold;
    if (lost === undefined) continue;
    latestNs = Math.max(latestNs, latenessNs(history, hold) ?? 0);
    const reason = lost.what ?? 'unknown';
    losses[reason] = (losses[reason] ?? 0) + 1;
  }
  return {
    operations: digest.calls.length,
    grants: digest.calls.filter(({ invoke, outcome }) => invoke.op === 'acquire' && outcome?.type === 'ok')
      .length,
    windows: windows.count,
    losses,
    faults: digest.faults.length,
    worstTakeoverMs: worstTakeoverNs(history) / 1e6,
    worstLossLatenessMs: latestNs / 1e6,
  };
}
