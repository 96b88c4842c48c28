/**
 * When each holder believed it held: from the outcome of its acquisition to the first event that ended its belief.
 *
 * A holder that lost its hold on the server does not know at once. The possible causes are determined here, too, so
 * that the rules about losses and overlaps agree on them.
 */
import type { Call, Digest, FaultSpan, HoldStory } from './digest.ts';

export interface Window {
  readonly hold: HoldStory;
  readonly fromNs: number;
  readonly toNs: number;
}

/** One owner field of one key. Handles that re-enter, or that pass the lock on inside a process, share it. */
interface Tenure {
  firstInvokedNs: number;
  firstGrantedNs: number;
  /** A loss shows that the server had removed the owner, or no confirmed release shows the contrary. */
  showsRemoval: boolean;
}

/** The forced releases of one key, in order of their invocation. */
class Forces {
  readonly #forces: readonly Call[];
  /** For each index, the latest end up to it. */
  readonly #latestEndsNs: number[] = [];

  constructor(digest: Digest, forces: readonly Call[]) {
    this.#forces = forces;
    let latestNs = 0;
    for (const force of forces) {
      latestNs = Math.max(latestNs, digest.endOf(force));
      this.#latestEndsNs.push(latestNs);
    }
  }

  /** The first one that had not ended at this moment. */
  firstOverAfter(atNs: number): Call | undefined {
    let [low, high] = [0, this.#forces.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#latestEndsNs[middle] as number) > atNs) high = middle;
      else low = middle + 1;
    }
    return this.#forces[low];
  }
}

const REMOVED = new Set(['notOwner', 'forced', 'failover']);

export class Windows {
  readonly byKey = new Map<string, Window[]>();
  readonly #digest: Digest;
  readonly #settleNs: number;
  /** By key and owner. */
  readonly #tenures = new Map<string, Map<string, Tenure>>();
  readonly #removing: readonly FaultSpan[];
  readonly #forces = new Map<string, Forces>();

  constructor(digest: Digest, settleMs: number) {
    this.#digest = digest;
    this.#settleNs = settleMs * 1e6;
    this.#removing = digest.faults.filter(({ removesHolds }) => removesHolds);
    for (const hold of digest.holds) this.#note(hold);
    for (const { key, holds, calls } of digest.keys.values()) {
      if (calls.force.length > 0) this.#forces.set(key, new Forces(digest, calls.force));
      const windows = holds.map((hold) => this.#windowOf(hold)).filter(({ fromNs, toNs }) => fromNs < toNs);
      this.byKey.set(key, windows);
    }
  }

  /** The number of windows. */
  get count(): number {
    let count = 0;
    for (const windows of this.byKey.values()) count += windows.length;
    return count;
  }

  /**
   * The first `force` that may have ended the hold, if any. It removes what the server has when it runs: a tenure
   * invoked after the force had settled is safe. A tenure granted after that counts as safe, too, unless its end shows
   * the contrary.
   */
  forcedBy(hold: HoldStory): Call | undefined {
    const { firstInvokedNs, firstGrantedNs, showsRemoval } = this.#tenureOf(hold);
    const atLeastNs = showsRemoval ? firstInvokedNs : firstGrantedNs;
    return this.#forces.get(hold.key)?.firstOverAfter(atLeastNs);
  }

  /** Whether a fault that removes holds from the server began before this moment and may have removed this one. */
  isRemovable(hold: HoldStory, beforeNs: number): boolean {
    const { firstInvokedNs } = this.#tenureOf(hold);
    return this.#removing.some(
      ({ fromNs, toNs, procs }) =>
        fromNs <= beforeNs &&
        firstInvokedNs < toNs + this.#settleNs &&
        (procs === undefined || procs.includes(hold.proc)),
    );
  }

  /** A hold without a recorded owner is a separate tenure. */
  #tenureOf({ key, owner, id }: HoldStory): Tenure {
    return this.#tenures.get(key)?.get(owner ?? id) as Tenure;
  }

  #note({ key, owner, id, invokedNs, grantedNs, lost, release }: HoldStory): void {
    const showsRemoval = REMOVED.has(lost?.what ?? '') || release?.outcome?.type !== 'ok';
    const tenures = this.#tenures.get(key) ?? new Map<string, Tenure>();
    this.#tenures.set(key, tenures);
    const tenure = tenures.get(owner ?? id);
    if (tenure === undefined) {
      tenures.set(owner ?? id, { firstInvokedNs: invokedNs, firstGrantedNs: grantedNs, showsRemoval });
      return;
    }
    tenure.firstInvokedNs = Math.min(tenure.firstInvokedNs, invokedNs);
    tenure.firstGrantedNs = Math.min(tenure.firstGrantedNs, grantedNs);
    tenure.showsRemoval ||= showsRemoval;
  }

  /** Permits of a plain semaphore have no lease: a dead process keeps them, and only a release ends them. */
  #windowOf(hold: HoldStory): Window {
    const releasedNs = hold.release?.invoke.atNs ?? Number.POSITIVE_INFINITY;
    if (hold.kind === 'semaphore') return { hold, fromNs: hold.grantedNs, toNs: releasedNs };
    const ends = [
      releasedNs,
      hold.lost?.atNs ?? Number.POSITIVE_INFINITY,
      hold.deadlineNs,
      this.#digest.diedNs(hold.proc),
      this.forcedBy(hold)?.invoke.atNs ?? Number.POSITIVE_INFINITY,
    ];
    return { hold, fromNs: hold.grantedNs, toNs: Math.min(...ends) };
  }
}
