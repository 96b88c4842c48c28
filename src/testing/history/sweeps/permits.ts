/**
 * There are never more permits out than exist.
 *
 * Sound: of the windows open at one moment, take the one granted last. When the server granted it, all of them were
 * out, and there were enough permits. That was after the first of them was requested, so the highest number since then
 * is a bound, even if the number was reduced meanwhile. A `set` is recorded before a number rises and after it has
 * fallen.
 */
import type { KeyDigest } from '../digest.ts';
import type { Violation } from '../verdict.ts';
import type { Window } from '../windows.ts';
import { type Case, told, violation } from './sweep.ts';

const COUNTED = new Set(['semaphore', 'permit']);
/** More holds would not help the reader. */
const NAMED = 12;

/** The highest number of permits at any time in the interval. */
function mostBetween({ sets }: KeyDigest, fromNs: number, toNs: number): number {
  let most = 0;
  let before = 0;
  for (const { atNs, permits = 0 } of sets) {
    if (atNs <= fromNs) before = permits;
    else if (atNs <= toNs) most = Math.max(most, permits);
  }
  return Math.max(most, before);
}

export function checkPermits(history: Case): Violation[] {
  const found: Violation[] = [];
  for (const key of history.digest.keys.values()) {
    // Without a recorded number there is nothing to compare with.
    if (key.sets.length === 0) continue;
    const windows = (history.windows.byKey.get(key.key) ?? []).filter(({ hold }) => COUNTED.has(hold.kind));
    found.push(...tooMany(history, key, windows));
  }
  return found;
}

function tooMany(history: Case, key: KeyDigest, windows: readonly Window[]): Violation[] {
  const found: Violation[] = [];
  const starts = [...windows].sort((a, b) => a.fromNs - b.fromNs);
  const ends = [...windows].sort((a, b) => a.toNs - b.toNs);
  const open = new Set<Window>();
  let [out, ended] = [0, 0];
  let wasTooMany = false;
  for (const window of starts) {
    for (; (ends[ended] as Window).toNs <= window.fromNs; ended += 1) {
      open.delete(ends[ended] as Window);
      out -= (ends[ended] as Window).hold.permits;
    }
    open.add(window);
    out += window.hold.permits;
    const there = out <= fewestOf(key) ? out : mostSince(key, open, window.fromNs);
    if (out > there && !wasTooMany) {
      const toNs = Math.min(...[...open].map((each) => each.toNs));
      const shown = [...open].slice(0, NAMED);
      const text =
        `${out} permits of "${key.key}" were taken at ${history.digest.at(window.fromNs)}, but only ${there} existed: ` +
        shown.map((each) => told(history, each)).join(', ') +
        (open.size > NAMED ? ' and others' : '');
      const holds = shown.map(({ hold }) => hold);
      found.push(violation('too-many-permits', holds, [window.fromNs, toNs], text));
    }
    wasTooMany = out > there;
  }
  return found;
}

function fewestOf({ sets }: KeyDigest): number {
  return sets.length === 1 ? (sets[0]?.permits ?? 0) : 0;
}

function mostSince(key: KeyDigest, open: ReadonlySet<Window>, atNs: number): number {
  let sinceNs = atNs;
  for (const { hold } of open) sinceNs = Math.min(sinceNs, hold.invokedNs);
  return mostBetween(key, sinceNs, atNs);
}
