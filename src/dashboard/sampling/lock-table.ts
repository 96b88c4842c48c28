/**
 * All locks and counters as they were last seen, and what changed between two looks.
 */
import type { Description } from '../../inspect/description.ts';
import type { LockRow, RowHolder } from '../protocol.ts';
import { rowOf, type Waiter } from './row.ts';
import { seenHolders } from './seen-holder.ts';

export interface TableListener {
  /** The row is another one than before, or there is none any more. */
  onChanged(key: string): void;
  onTaken(key: string, holder: RowHolder, at: number): void;
  /** @param isOver whether its lease had ended by then, as far as looks can tell */
  onEnded(key: string, holder: RowHolder, at: number, isOver: boolean): void;
}

interface Entry {
  readonly row: LockRow;
  /** The row as JSON: compared with every look, and sent to every page. */
  readonly text: string;
  readonly holders: ReadonlyMap<string, RowHolder>;
  readonly lookedAt: number;
}

const NOBODY: ReadonlyMap<string, RowHolder> = new Map();

export class LockTable {
  readonly #listener: TableListener;
  readonly #ownWaiters: (key: string) => readonly Waiter[];
  /** Those that were looked at longest ago come first. */
  readonly #entries = new Map<string, Entry>();

  constructor(listener: TableListener, ownWaiters: (key: string) => readonly Waiter[]) {
    this.#listener = listener;
    this.#ownWaiters = ownWaiters;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  row(key: string): LockRow | undefined {
    return this.#entries.get(key)?.row;
  }

  /** The row as JSON. */
  text(key: string): string | undefined {
    return this.#entries.get(key)?.text;
  }

  texts(): string[] {
    return [...this.#entries.values()].map(({ text }) => text);
  }

  /** The keys that were looked at longest ago, before a time; at most so many. */
  lookedAtBefore(time: number, most: number): string[] {
    const keys: string[] = [];
    for (const [key, { lookedAt }] of this.#entries) {
      if (keys.length === most || lookedAt > time) break;
      keys.push(key);
    }
    return keys;
  }

  /** As looks at the server show it: how many are held, for how many there are waiters, and how many wait. */
  totals(): { held: number; waitedFor: number; waiting: number } {
    let held = 0;
    let waitedFor = 0;
    let waiting = 0;
    for (const { row } of this.#entries.values()) {
      if (row.held > 0) held += 1;
      if ((row.waiting ?? 0) > 0) waitedFor += 1;
      waiting += row.waiting ?? 0;
    }
    return { held, waitedFor, waiting };
  }

  /**
   * @param at when the server answered
   * @param listening how many clients listen on its channel; undefined where that is not known
   */
  see(found: Description, at: number, listening?: number): void {
    const { key } = found;
    const before = this.#entries.get(key);
    const holders = seenHolders(found, at, before?.holders ?? NOBODY);
    const row = rowOf(found, holders, listening, this.#ownWaiters(key));
    const text = JSON.stringify(row);
    this.#entries.delete(key);
    this.#entries.set(key, { row, text, holders, lookedAt: at });
    this.#tellHolders(key, before?.holders ?? NOBODY, holders, at);
    if (text !== before?.text) this.#listener.onChanged(key);
  }

  /** A look found nothing there. */
  miss(key: string, at: number): void {
    const before = this.#entries.get(key);
    if (before === undefined) return;
    this.#entries.delete(key);
    this.#tellHolders(key, before.holders, NOBODY, at);
    this.#listener.onChanged(key);
  }

  /** Nobody has looked for long: what is here says nothing any more. */
  clear(): void {
    this.#entries.clear();
  }

  #tellHolders(
    key: string,
    before: ReadonlyMap<string, RowHolder>,
    after: ReadonlyMap<string, RowHolder>,
    at: number,
  ): void {
    for (const [owner, holder] of before) {
      if (after.has(owner)) continue;
      this.#listener.onEnded(key, holder, at, holder.endsAt !== null && holder.endsAt <= at);
    }
    for (const [owner, holder] of after) {
      if (!before.has(owner)) this.#listener.onTaken(key, holder, at);
    }
  }
}
