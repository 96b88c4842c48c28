/**
 * No waiter is left behind: a free key is granted to a waiter within a bound.
 *
 * Sound: the key counts as taken while anything in the history may occupy it on the server. Only intervals count in
 * which nothing was granted, no fault was active or had just ended, and the waiter's process ran.
 */
import type { Call, KeyDigest } from '../digest.ts';
import { groupMembers, occupantsOf } from '../occupancy.ts';
import type { Violation } from '../verdict.ts';
import { Calm } from './calm.ts';
import type { Case } from './sweep.ts';

/** A step of the sweep: permits are taken or freed, or a waiter arrives or leaves. */
interface Step {
  readonly atNs: number;
  readonly permits: number;
  readonly waiter?: Waiter;
  readonly isGrant?: boolean;
}

interface Waiter {
  readonly call: Call;
  readonly permits: number;
  /** Since when enough permits were free for it. */
  freeSinceNs: number | undefined;
  isWaiting: boolean;
  isTold: boolean;
}

export function checkTakeover(history: Case): Violation[] {
  const { digest, bounds } = history;
  const groups = groupMembers(digest);
  const calm = new Calm(digest, bounds);
  return [...digest.keys.values()].flatMap((key) => new KeySweep(history, key, groups, calm).run());
}

/** The capacity of a key: one for a lock; for a semaphore the number last set, and none before. */
function capacityOf({ sets, calls }: KeyDigest, settleNs: number): Step[] {
  const kind = calls.acquire[0]?.invoke.kind ?? 'lock';
  if (kind !== 'semaphore' && kind !== 'permit') return [{ atNs: Number.NEGATIVE_INFINITY, permits: 1 }];
  let before = 0;
  return sets.map(({ atNs, permits = 0 }) => {
    const more = permits - before;
    before = permits;
    // A rise is recorded before the call.
    return { atNs: more > 0 ? atNs + settleNs : atNs, permits: more };
  });
}

class KeySweep {
  readonly #history: Case;
  readonly #key: KeyDigest;
  readonly #groups: ReadonlySet<Call>;
  readonly #calm: Calm;
  readonly #waiting = new Set<Waiter>();
  readonly #found: Violation[] = [];
  #free = 0;

  constructor(history: Case, key: KeyDigest, groups: ReadonlySet<Call>, calm: Calm) {
    this.#history = history;
    this.#key = key;
    this.#groups = groups;
    this.#calm = calm;
  }

  run(): Violation[] {
    const { acquire } = this.#key.calls;
    if (acquire.length === 0 || acquire[0]?.invoke.kind === 'rate') return [];
    for (const step of this.#steps()) this.#take(step);
    for (const waiter of this.#waiting) this.#judge(waiter, this.#history.digest.endNs);
    return this.#found;
  }

  /** In order of time; at the same moment, permits are taken before others are freed. */
  #steps(): Step[] {
    const { digest, bounds } = this.#history;
    const steps: Step[] = capacityOf(this.#key, bounds.settleMs * 1e6);
    for (const { fromNs, toNs, permits, isGrant } of occupantsOf(digest, this.#key, this.#groups, bounds)) {
      steps.push({ atNs: fromNs, permits: -permits, isGrant }, { atNs: toNs, permits });
    }
    for (const call of this.#key.calls.acquire) {
      const { atNs, proc, permits = 1 } = call.invoke;
      // A dead waiter needs nothing; a member of a group may wait for another key.
      if (this.#groups.has(call) || (call.outcome === undefined && Number.isFinite(digest.diedNs(proc))))
        continue;
      const waiter: Waiter = { call, permits, freeSinceNs: undefined, isWaiting: false, isTold: false };
      steps.push({ atNs, permits: 0, waiter });
      if (call.outcome !== undefined) steps.push({ atNs: call.outcome.atNs, permits: 0, waiter });
    }
    return steps.sort((a, b) => a.atNs - b.atNs || a.permits - b.permits);
  }

  #take({ atNs, permits, waiter, isGrant = false }: Step): void {
    this.#free += permits;
    if (waiter?.isWaiting) {
      this.#judge(waiter, atNs);
      this.#waiting.delete(waiter);
    } else if (waiter !== undefined) {
      waiter.isWaiting = true;
      this.#waiting.add(waiter);
      if (this.#free >= waiter.permits) waiter.freeSinceNs = atNs;
    }
    if (!isGrant && permits === 0) return;
    for (const each of this.#waiting) {
      const isFree = this.#free >= each.permits;
      if (each.freeSinceNs !== undefined && (isGrant || !isFree)) this.#judge(each, atNs);
      if (!isFree) each.freeSinceNs = undefined;
      else if (isGrant) each.freeSinceNs = atNs;
      else each.freeSinceNs ??= atNs;
    }
  }

  /** Reports the waiter if enough permits were free for too long without a grant to it. */
  #judge(waiter: Waiter, untilNs: number): void {
    const { digest, bounds } = this.#history;
    const { freeSinceNs, call, isTold } = waiter;
    if (freeSinceNs === undefined || isTold) return;
    const { proc, worker, atNs } = call.invoke;
    const stretch = this.#calm.longerThan(bounds.takeoverMs * 1e6, proc, [freeSinceNs, untilNs]);
    if (stretch === undefined) return;
    waiter.isTold = true;
    const [fromNs, toNs] = stretch;
    this.#found.push({
      kind: 'left-behind',
      key: this.#key.key,
      text:
        `${proc}/${worker} waited for "${this.#key.key}" from ${digest.at(atNs)} on, which was free for ` +
        `${((toNs - fromNs) / 1e6).toFixed(1)} ms from ${digest.at(fromNs)} on`,
      fromNs,
      toNs,
      holds: [],
      procs: [proc],
    });
  }
}

/**
 * The longest time from the moment a key became free, as its last holder knew, until the grant to a waiter; without the
 * time in which that waiter's process was stalled.
 */
export function worstTakeoverNs({ digest }: Case): number {
  let worstNs = 0;
  for (const { holds } of digest.keys.values()) {
    let freeNs = Number.NEGATIVE_INFINITY;
    for (const { kind, invokedNs, grantedNs, proc, lost, release, deadlineNs } of holds) {
      if (kind === 'semaphore' || kind === 'permit' || kind === 'read') continue;
      if (invokedNs <= freeNs && freeNs <= grantedNs) {
        worstNs = Math.max(worstNs, digest.stallsOf(proc).uncoveredNs(freeNs, grantedNs));
      }
      const givenBackNs = release?.outcome?.type === 'ok' ? release.outcome.atNs : undefined;
      freeNs = Math.max(freeNs, givenBackNs ?? Math.max(deadlineNs, lost?.atNs ?? 0));
    }
  }
  return worstNs;
}
