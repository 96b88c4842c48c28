/**
 * A holder learns of a loss in time, and only of real ones: not after another party was granted, not long after its
 * deadline, not while its hold was intact; and it does not successfully release a lost hold.
 */
import type { HoldStory } from '../digest.ts';
import type { Violation } from '../verdict.ts';
import { overlaps } from './exclusion.ts';
import { type Case, named, violation } from './sweep.ts';

/** The server reported the loss; without a cause on the server it is a false alarm. */
const SAID_BY_SERVER = new Set(['notOwner', 'forced', 'failover']);
/** The holder's clock reported the loss. */
const SAID_BY_CLOCK = new Set(['expired', 'unreachable']);
/** A library may notify its holder this much before the deadline: the larger of the two. */
const NOTICE_NS = 50e6;
const NOTICE_SHARE = 0.05;

export function checkLosses(history: Case): Violation[] {
  const found = overtaken(history);
  for (const hold of history.digest.holds) {
    for (const rule of [late, early, releasedAfterLoss]) {
      const wrong = rule(history, hold);
      if (wrong !== undefined) found.push(wrong);
    }
  }
  return found;
}

/**
 * How long after the deadline the holder was notified, without the time in which its process was stalled. Undefined
 * where that is unknown: a process that is stopped and then killed does not record the stop.
 *
 * Sound: a live process reads its deadlines every few milliseconds, so a renewal is recorded before the old deadline
 * passes.
 */
export function latenessNs({ digest }: Case, hold: HoldStory): number | undefined {
  const { deadlineNs, proc, lost, release } = hold;
  if (!Number.isFinite(deadlineNs)) return undefined;
  const diedNs = digest.diedNs(proc);
  const toldNs = Math.min(lost?.atNs ?? digest.endNs, release?.invoke.atNs ?? digest.endNs);
  if (diedNs <= toldNs || (Number.isFinite(diedNs) && digest.lastEventNs(proc) <= toldNs)) return undefined;
  return Math.max(0, digest.stallsOf(proc).uncoveredNs(deadlineNs, toldNs));
}

function late(history: Case, hold: HoldStory): Violation | undefined {
  const { digest, bounds } = history;
  const lateNs = latenessNs(history, hold);
  if (lateNs === undefined || lateNs <= bounds.slackMs * 1e6) return undefined;
  const toldNs = hold.lost?.atNs ?? hold.release?.invoke.atNs ?? digest.endNs;
  const until = hold.lost === undefined ? 'was not told' : `was told at ${digest.at(toldNs)}`;
  const text =
    `${named(hold)} ${until} that "${hold.key}" was lost, ${(lateNs / 1e6).toFixed(1)} ms after its deadline at ` +
    `${digest.at(hold.deadlineNs)}, although its process ran`;
  return violation('late-loss', [hold], [hold.deadlineNs, toldNs], text);
}

/**
 * Sound: the other party's grant is within a window that only the loss ended, and neither a force nor a fault can have
 * removed the hold before; so the server granted the lock to another party while the holder had time left.
 */
function overtaken(history: Case): Violation[] {
  const found: Violation[] = [];
  for (const [{ hold }, second] of overlaps(history)) {
    const { digest, windows } = history;
    const grantedNs = second.fromNs;
    if (hold.lost === undefined || hold.lost.atNs <= grantedNs) continue;
    if (digest.stallsOf(hold.proc).touches(grantedNs, grantedNs + 1)) continue;
    if (windows.forcedBy(hold) !== undefined || windows.isRemovable(hold, grantedNs)) continue;
    const text =
      `${named(hold)} was told at ${digest.at(hold.lost.atNs)} that "${hold.key}" was lost (${hold.lost.what}), ` +
      `after ${named(second.hold)} had got the lock at ${digest.at(grantedNs)}`;
    found.push(violation('late-loss', [hold, second.hold], [grantedNs, hold.lost.atNs], text));
  }
  return found;
}

/**
 * Sound: before the deadline the server removes nothing except by force or by a fault, and the holder's clock reports
 * nothing. A group that loses members to such a fault may end sooner than it knew.
 */
function early({ digest, windows, bounds }: Case, hold: HoldStory): Violation | undefined {
  const { lost, release, deadlineNs, deadlineReadNs } = hold;
  if (lost === undefined || (release?.invoke.atNs ?? Number.POSITIVE_INFINITY) <= lost.atNs) return undefined;
  const reason = lost.what ?? '';
  const noticeNs = Math.max(NOTICE_NS, NOTICE_SHARE * (deadlineNs - deadlineReadNs));
  const isEarly =
    (SAID_BY_SERVER.has(reason) && lost.atNs < deadlineNs) ||
    (SAID_BY_CLOCK.has(reason) && lost.atNs + noticeNs + bounds.slackMs * 1e6 < deadlineNs);
  if (!isEarly || windows.isRemovable(hold, lost.atNs)) return undefined;
  const force = windows.forcedBy(hold);
  if (SAID_BY_SERVER.has(reason) && force !== undefined && force.invoke.atNs <= lost.atNs) return undefined;
  const text =
    `${named(hold)} was told at ${digest.at(lost.atNs)} that "${hold.key}" was lost (${reason}), although its lease ran ` +
    `until ${digest.at(deadlineNs)} and nothing had removed it`;
  return violation('early-loss', [hold], [hold.grantedNs, lost.atNs], text);
}

/** Sound: a loss is final; a release requested after the loss cannot succeed. */
function releasedAfterLoss({ digest }: Case, hold: HoldStory): Violation | undefined {
  const { lost, release } = hold;
  if (lost === undefined || release?.outcome?.type !== 'ok' || lost.atNs >= release.invoke.atNs)
    return undefined;
  const text =
    `${named(hold)} released "${hold.key}" at ${digest.at(release.invoke.atNs)} as if it held it, after it had been ` +
    `told at ${digest.at(lost.atNs)} that it was lost (${lost.what})`;
  return violation('released-after-loss', [hold], [lost.atNs, release.outcome.atNs], text);
}
