/**
 * Two parties are never inside at once: their windows on one key are disjoint, unless both only read.
 *
 * Sound: a window ends with the first event that ended its holder's belief, so two overlapping windows are two holders
 * that both had reason to continue at the same moment. One party's windows may nest: that is re-entry.
 */

import type { Violation } from '../verdict.ts';
import type { Window } from '../windows.ts';
import { type Case, told, violation } from './sweep.ts';

const SHARED = new Set(['semaphore', 'permit']);

/** The windows that end last: of all parties, and of all other parties. */
class Longest {
  #first: Window | undefined;
  #other: Window | undefined;

  add(window: Window): void {
    if (this.#first === undefined || window.toNs > this.#first.toNs) {
      if (this.#first?.hold.party !== window.hold.party) this.#other = this.#first;
      this.#first = window;
    } else if (window.hold.party !== this.#first.hold.party) {
      if (this.#other === undefined || window.toNs > this.#other.toNs) this.#other = window;
    }
  }

  /** The window that ends last among those of other parties. */
  besides({ hold: { party } }: Window): Window | undefined {
    return this.#first?.hold.party === party ? this.#other : this.#first;
  }
}

/** Every window that began while another party was inside, with that party's window as the first of the pair. */
export function overlaps({ windows }: Case): [Window, Window][] {
  const found: [Window, Window][] = [];
  for (const all of windows.byKey.values()) {
    const [writing, reading] = [new Longest(), new Longest()];
    for (const second of all
      .filter(({ hold }) => !SHARED.has(hold.kind))
      .sort((a, b) => a.fromNs - b.fromNs)) {
      const reads = second.hold.kind === 'read';
      const first = [writing, ...(reads ? [] : [reading])]
        .map((longest) => longest.besides(second))
        .filter((window) => window !== undefined)
        .sort((a, b) => b.toNs - a.toNs)[0];
      if (first !== undefined && second.fromNs < first.toNs) found.push([first, second]);
      (reads ? reading : writing).add(second);
    }
  }
  return found;
}

export function checkExclusion(history: Case): Violation[] {
  return overlaps(history).map(([first, second]) => {
    const span = [second.fromNs, Math.min(first.toNs, second.toNs)] as const;
    const text = `${told(history, first)} and ${told(history, second)} held "${second.hold.key}" at the same time`;
    return violation('overlap', [first.hold, second.hold], span, text);
  });
}
