/**
 * What is known of the replicas: how many each primary has, how many have to acknowledge a grant, and whether they
 * can be waited for at all.
 */
import type { Clock } from '../clock.ts';

/** How many acknowledgements are asked for: a number, or what is right for the replicas there are. */
export type ReplicaWish = number | 'auto' | 'majority';

/** How long the number of replicas is taken for granted: a replica that comes online may not be asked until then. */
const COUNTED_FOR_MS = 10_000;

export interface CensusSettings {
  readonly clock: Clock;
  readonly wish: ReplicaWish;
  /** How many replicas there should be, where that was said. */
  readonly expected: number;
}

interface Count {
  readonly replicas: number;
  readonly takenAt: number;
}

export class ReplicaCounts {
  readonly wish: ReplicaWish;
  readonly #clock: Clock;
  readonly #expected: number;
  readonly #counts = new Map<string, Count>();
  /** The most replicas that ever acknowledged to each primary: one that is gone still counts for a majority. */
  readonly #mostSeen = new Map<string, number>();
  /** How primaries refused to let us wait for replicas. */
  readonly #refusals = new Map<string, string>();

  constructor({ clock, wish, expected }: CensusSettings) {
    this.#clock = clock;
    this.wish = wish;
    this.#expected = expected;
  }

  /** So many replicas acknowledge what that primary writes, as it has just told. */
  counted(node: string, replicas: number): void {
    this.#counts.set(node, { replicas, takenAt: this.#clock.now() });
    this.#mostSeen.set(node, Math.max(replicas, this.#mostSeen.get(node) ?? 0));
  }

  /** How many do, and whether the primary should be asked again; undefined when nobody has asked. */
  known(node: string): { readonly replicas: number; readonly isOld: boolean } | undefined {
    const count = this.#counts.get(node);
    return count && { replicas: count.replicas, isOld: this.#clock.now() - count.takenAt > COUNTED_FOR_MS };
  }

  /** What is known of it may be wrong by now. */
  doubt(node: string): void {
    this.#counts.delete(node);
  }

  /** That primary does not let us wait for its replicas. */
  refused(node: string, why: unknown): void {
    this.#refusals.set(node, why instanceof Error ? why.message : String(why));
  }

  /** It does. */
  allowed(node: string): void {
    this.#refusals.delete(node);
  }

  isRefused(node: string): boolean {
    return this.#refusals.has(node);
  }

  /** How one of them refused, in words for people; null when none does. */
  get refusal(): string | null {
    for (const [node, why] of this.#refusals) return node === '' ? why : `${node}: ${why}`;
    return null;
  }

  /** There are no others any more. */
  keepOnly(nodes: ReadonlySet<string>): void {
    for (const node of [...this.#refusals.keys()]) if (!nodes.has(node)) this.#refusals.delete(node);
  }

  /** How many replicas have to acknowledge a grant of that primary, of which so many can be expected to. */
  required(node: string, present: number): number {
    if (typeof this.wish === 'number') return this.wish;
    if (this.wish === 'auto') return this.isRefused(node) ? 0 : Math.min(1, present);
    const replicas = Math.max(this.#expected, present, this.#mostSeen.get(node) || this.#fewestElsewhere());
    // Together with the primary, more than half of all servers have it then.
    return Math.floor((replicas + 1) / 2);
  }

  /** A node of a Cluster that was promoted has no past of its own: as many as its poorest neighbour has are missed. */
  #fewestElsewhere(): number {
    const seen = [...this.#mostSeen.values()].filter((replicas) => replicas > 0);
    return seen.length === 0 ? 0 : Math.min(...seen);
  }
}
