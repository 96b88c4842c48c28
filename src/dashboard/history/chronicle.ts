/**
 * What happened: the timeline of everything that matters, and the history of every lock. Both are bounded, whatever
 * happens.
 */
import type { Happening } from '../protocol.ts';
import { Ring } from './ring.ts';

const MOST_IN_TIMELINE = 1_000;
const MOST_OF_ONE_LOCK = 100;
/** Of all locks together. */
const MOST_OF_LOCKS = 50_000;
/** The longest text that is kept of a message. */
const LONGEST_TEXT = 1_000;

export type Event = Omit<Happening, 'id'>;

export class Chronicle {
  readonly #timeline = new Ring<Happening>(MOST_IN_TIMELINE);
  /** The locks to which something happened last come last. */
  readonly #ofLocks = new Map<string, Ring<Happening>>();
  #kept = 0;
  #lastId = 0;

  /** @param isNotable whether the timeline has it too */
  note({ text, ...event }: Event, isNotable: boolean): Happening {
    this.#lastId += 1;
    const happening: Happening = { id: this.#lastId, ...event, text: text.slice(0, LONGEST_TEXT) };
    if (isNotable) this.#timeline.add(happening);
    if (event.key !== null) this.#keep(event.key, happening);
    return happening;
  }

  /** Newest first. */
  timeline(): Happening[] {
    return this.#timeline.all().reverse();
  }

  /** Newest first. */
  ofLock(key: string): Happening[] {
    return this.#ofLocks.get(key)?.all().reverse() ?? [];
  }

  #keep(key: string, happening: Happening): void {
    const ring = this.#ofLocks.get(key) ?? new Ring<Happening>(MOST_OF_ONE_LOCK);
    const before = ring.size;
    ring.add(happening);
    this.#kept += ring.size - before;
    this.#ofLocks.delete(key);
    this.#ofLocks.set(key, ring);
    for (const [oldest, { size }] of this.#ofLocks) {
      if (this.#kept <= MOST_OF_LOCKS) break;
      this.#ofLocks.delete(oldest);
      this.#kept -= size;
    }
  }
}
