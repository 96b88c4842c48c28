/** The holds that have begun and not ended, by their owner and name: events name a hold by these. */
import type { HoldMessage } from '../../channels.ts';

interface Named {
  /** Permits of a plain semaphore have none, and are never found. */
  readonly owner: string | undefined;
  readonly name: string;
}

const keyOf = ({ owner, name }: Named): string => `${owner} ${name}`;

export class OpenHolds {
  /** An owner that enters a lock again has several. */
  readonly #byKey = new Map<string, Set<HoldMessage>>();

  add(hold: HoldMessage): void {
    if (hold.owner === undefined) return;
    const key = keyOf(hold);
    const holds = this.#byKey.get(key);
    if (holds === undefined) this.#byKey.set(key, new Set([hold]));
    else holds.add(hold);
  }

  delete(hold: HoldMessage): void {
    const key = keyOf(hold);
    const holds = this.#byKey.get(key);
    if (holds?.delete(hold) && holds.size === 0) this.#byKey.delete(key);
  }

  of(named: Named): Iterable<HoldMessage> {
    return this.#byKey.get(keyOf(named)) ?? [];
  }

  clear(): void {
    this.#byKey.clear();
  }
}
