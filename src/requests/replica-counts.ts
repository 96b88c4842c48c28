/**
 * Keeps the replica counts: how many replicas each primary has, how many have to acknowledge a grant, and which
 * primaries do not let the client wait for them.
 */
import type { Clock } from '../clock.ts';
import type { Topology } from '../drivers/driver.ts';

/** How many acknowledgements to ask for: a number, or a rule that depends on the replicas present. */
export type ReplicaRequirement = number | 'auto' | 'majority';

/** How long a count stays valid: until then, a replica that comes online may not be asked. */
const COUNTED_FOR_MS = 10_000;

export interface ReplicaCountSettings {
  readonly clock: Clock;
  readonly requirement: ReplicaRequirement;
  /** How many replicas there should be, if the user listed them. */
  readonly expected: number;
  readonly topology: Topology;
}

interface Count {
  readonly replicas: number;
  readonly takenAt: number;
}

export class ReplicaCounts {
  readonly requirement: ReplicaRequirement;
  /** Until then, by the clock, no grant needs an acknowledgement. In a Cluster, each primary has its own count. */
  noneNeededUntil = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;
  readonly #expected: number;
  readonly #isCluster: boolean;
  readonly #counts = new Map<string, Count>();
  /** The most acknowledging replicas each primary ever had: a replica that is gone still counts for a majority. */
  readonly #mostSeen = new Map<string, number>();
  /** The errors of primaries that do not let the client wait for their replicas. */
  readonly #refusals = new Map<string, string>();

  constructor({ clock, requirement, expected, topology }: ReplicaCountSettings) {
    this.#clock = clock;
    this.requirement = requirement;
    this.#expected = expected;
    this.#isCluster = topology === 'cluster';
    if (requirement === 0) this.noneNeededUntil = Number.POSITIVE_INFINITY;
  }

  /** The primary has just reported this number of acknowledging replicas. */
  counted(node: string, replicas: number): void {
    this.#counts.set(node, { replicas, takenAt: this.#clock.now() });
    this.#mostSeen.set(node, Math.max(replicas, this.#mostSeen.get(node) ?? 0));
    if (typeof this.requirement === 'number' || this.#isCluster) return;
    const isNoneNeeded = this.required(node, replicas) === 0;
    this.noneNeededUntil = isNoneNeeded ? this.#clock.now() + COUNTED_FOR_MS : Number.NEGATIVE_INFINITY;
  }

  /** The last count, and whether it is due to be repeated; undefined when the primary was never asked. */
  known(node: string): { readonly replicas: number; readonly isOld: boolean } | undefined {
    const count = this.#counts.get(node);
    return count && { replicas: count.replicas, isOld: this.#clock.now() - count.takenAt > COUNTED_FOR_MS };
  }

  /** Forgets the count, which may be wrong by now. */
  doubt(node: string): void {
    this.#counts.delete(node);
    this.#decideAnew();
  }

  /** The primary does not let the client wait for its replicas. */
  refused(node: string, why: unknown): void {
    this.#refusals.set(node, why instanceof Error ? why.message : String(why));
  }

  /** The primary lets the client wait for its replicas. */
  allowed(node: string): void {
    this.#refusals.delete(node);
    this.#decideAnew();
  }

  isRefused(node: string): boolean {
    return this.#refusals.has(node);
  }

  /** The error of one refusing primary, for people; null when none refuses. */
  get refusal(): string | null {
    for (const [node, why] of this.#refusals) return node === '' ? why : `${node}: ${why}`;
    return null;
  }

  /** Forgets the refusals of all other nodes. */
  keepOnly(nodes: ReadonlySet<string>): void {
    for (const node of [...this.#refusals.keys()]) if (!nodes.has(node)) this.#refusals.delete(node);
  }

  /** How many replicas have to acknowledge a grant of this primary, if `present` replicas can. */
  required(node: string, present: number): number {
    if (typeof this.requirement === 'number') return this.requirement;
    if (this.requirement === 'auto') return this.isRefused(node) ? 0 : Math.min(1, present);
    const replicas = Math.max(this.#expected, present, this.#mostSeen.get(node) || this.#fewestElsewhere());
    // Together with the primary, more than half of all servers then have the grant.
    return Math.floor((replicas + 1) / 2);
  }

  #decideAnew(): void {
    if (this.requirement !== 0) this.noneNeededUntil = Number.NEGATIVE_INFINITY;
  }

  /** A newly promoted node of a Cluster has no count: assume the lowest count of the other primaries. */
  #fewestElsewhere(): number {
    const seen = [...this.#mostSeen.values()].filter((replicas) => replicas > 0);
    return seen.length === 0 ? 0 : Math.min(...seen);
  }
}
