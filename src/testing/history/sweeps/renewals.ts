/**
 * A hold without a requested lease is renewed for as long as its holder keeps it.
 *
 * Sound: such a hold is renewed long before half of its lease is over. It expires only if a fault or a stall of its
 * process took up most of the time since the last renewal. A hold that was never renewed may have a lease that was not
 * recorded, and is not judged.
 */
import type { HoldStory } from '../digest.ts';
import { Spans } from '../spans.ts';
import type { Violation } from '../verdict.ts';
import { type Case, named, violation } from './sweep.ts';

/** The lease ended. */
const RAN_OUT = new Set(['expired', 'unreachable']);

export function checkRenewals({ digest, bounds }: Case): Violation[] {
  const settleNs = bounds.settleMs * 1e6;
  const found: Violation[] = [];
  for (const hold of digest.holds) {
    const { lost, deadlineReadNs: renewedNs, proc } = hold;
    if (lost === undefined || !isRenewed(hold) || !RAN_OUT.has(lost.what ?? '')) continue;
    const faults = digest.faults.filter(({ procs }) => procs?.includes(proc) ?? true);
    const troubled = new Spans(faults.map(({ fromNs, toNs }) => [fromNs, toNs + settleNs] as const));
    const calmNs = troubled
      .gaps(renewedNs, lost.atNs)
      .reduce((sum, [from, to]) => sum + digest.stallsOf(proc).uncoveredNs(from, to), 0);
    if (calmNs * 2 <= lost.atNs - renewedNs) continue;
    const text =
      `${named(hold)} was told at ${digest.at(lost.atNs)} that "${hold.key}" was lost (${lost.what}): it was not renewed ` +
      `after ${digest.at(renewedNs)}, although nothing hindered its process for ${(calmNs / 1e6).toFixed(1)} ms`;
    found.push(violation('early-loss', [hold], [renewedNs, lost.atNs], text));
  }
  return found;
}

/** Whether the watchdog renews it: no lease was requested, and the last reading of its deadline left most of one. */
function isRenewed({ lost, release, grantedNs, deadlineReadNs, deadlineNs, leaseNs }: HoldStory): boolean {
  const isGivenBack = (release?.invoke.atNs ?? Number.POSITIVE_INFINITY) <= (lost?.atNs ?? 0);
  const isRead = deadlineReadNs > grantedNs && (deadlineNs - deadlineReadNs) * 2 > leaseNs;
  return lost?.leaseMs === undefined && isRead && !isGivenBack;
}
