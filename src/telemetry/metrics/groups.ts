/**
 * The labels of metrics. Names of locks have no bound, and every label value costs memory here, in the collector and in
 * the database. So a metric has the group of a name, which the user's function says, and the number of groups is bounded.
 */
import type { PrimitiveKind } from '../../events.ts';
import { callback, integer } from '../../options/value-checks.ts';

/** Says to which group a name belongs, for example `invoice` for `invoice:42`. */
export type GroupName = (name: string, kind: PrimitiveKind) => string;

/** How names become labels of metrics. */
export interface GroupOptions {
  /** The group of a name. Without it, all names are in the group `all`. */
  readonly groupName?: GroupName | undefined;
  /** How many groups there may be; what else the function returns is counted as `other`. By default 100. */
  readonly maxGroups?: number | undefined;
}

/** What the measurements of a primitive are told apart by. One object for each combination. */
export interface Labels {
  readonly group: string;
  readonly kind: PrimitiveKind;
}

const OTHER = 'other';

const groupAll: GroupName = () => 'all';

export class Groups {
  readonly #groupName: GroupName;
  readonly #maxGroups: number;
  readonly #byGroup = new Map<string, Map<string, Labels>>();
  readonly #onNew: (labels: Labels) => void;
  #hasWarned = false;

  /** @param onNew is called once for each combination, before it is returned */
  constructor({ groupName, maxGroups }: GroupOptions, onNew: (labels: Labels) => void) {
    this.#groupName = groupName === undefined ? groupAll : callback(groupName, 'groupName');
    this.#maxGroups = maxGroups === undefined ? 100 : integer(1)(maxGroups, 'maxGroups');
    this.#onNew = onNew;
  }

  of(name: string, kind: PrimitiveKind): Labels {
    return this.#labels(this.#bounded(name, kind), kind);
  }

  all(): Labels[] {
    return [...this.#byGroup.values()].flatMap((byKind) => [...byKind.values()]);
  }

  #bounded(name: string, kind: PrimitiveKind): string {
    let group: unknown;
    try {
      group = this.#groupName(name, kind);
    } catch (error) {
      return this.#other(`groupName threw ${error}`);
    }
    if (typeof group !== 'string') return this.#other(`groupName returned ${typeof group}, not a string`);
    if (this.#byGroup.has(group)) return group;
    // `other` itself takes no place.
    const count = this.#byGroup.size - (this.#byGroup.has(OTHER) ? 1 : 0);
    if (group === OTHER || count < this.#maxGroups) return group;
    return this.#other(
      `groupName returned more than ${this.#maxGroups} groups (maxGroups), ${JSON.stringify(group)} for one`,
    );
  }

  #other(why: string): string {
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      process.emitWarning(`${why}: the metrics of holdfast count such names as "${OTHER}"`, {
        type: 'HoldfastWarning',
        code: 'HOLDFAST_METRIC_GROUPS',
      });
    }
    return OTHER;
  }

  #labels(group: string, kind: PrimitiveKind): Labels {
    let byKind = this.#byGroup.get(group);
    if (byKind === undefined) {
      byKind = new Map();
      this.#byGroup.set(group, byKind);
    }
    let labels = byKind.get(kind);
    if (labels === undefined) {
      labels = { group, kind };
      byKind.set(kind, labels);
      this.#onNew(labels);
    }
    return labels;
  }
}
