/**
 * Looks for an order of concurrent operations that a model allows: the search of Wing and Gong, with Lowe's memory of
 * what was tried. Each operation takes effect at one moment between its invocation and its outcome.
 *
 * What may or may not have happened is an operation that the order may leave out: an acquisition in doubt, a release
 * in doubt, the end of a lease.
 */
import { EMPTY, type Entry, entered, left, type Model, type State } from './models.ts';

export type Effect =
  /** Comes in. */
  | { readonly does: 'enter'; readonly entry: Entry }
  /** Is refused, which a lock that could let it in does not do. */
  | { readonly does: 'find taken'; readonly entry: Entry }
  /** Leaves, by a release or by the end of its lease. */
  | { readonly does: 'leave'; readonly hold: string };

export interface Operation {
  readonly effect: Effect;
  readonly fromNs: number;
  /** `Infinity` when it may take effect at any later time. */
  readonly toNs: number;
  /** The order may leave it out. */
  readonly isOptional: boolean;
}

export interface SearchResult {
  readonly verdict: 'valid' | 'invalid' | 'unknown';
  /** How many moves were tried. */
  readonly steps: number;
}

interface Node {
  /** A bit for each operation that has taken effect. */
  readonly done: bigint;
  readonly state: State;
}

/** Searches for an order; gives up after so many steps. */
export function search(model: Model, operations: readonly Operation[], maxSteps: number): SearchResult {
  // What must end first is tried first: the order in which it really happened is mostly close to that.
  const ordered = [...operations].sort((a, b) => a.toNs - b.toNs || a.fromNs - b.fromNs);
  const needed = ordered.reduce((bits, { isOptional }, i) => (isOptional ? bits : bits | bit(i)), 0n);
  const stack: Node[] = [{ done: 0n, state: EMPTY }];
  const seen = new Set<string>();
  let steps = 0;
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if ((node.done & needed) === needed) return { verdict: 'valid', steps };
    const name = nameOf(node);
    if (seen.has(name)) continue;
    seen.add(name);
    steps += 1;
    if (steps > maxSteps) return { verdict: 'unknown', steps };
    stack.push(...movesFrom(model, ordered, node).reverse());
  }
  return { verdict: 'invalid', steps };
}

/** What may come next: all that began before the first of the rest must have ended. */
function movesFrom(model: Model, ordered: readonly Operation[], { done, state }: Node): Node[] {
  let firstEndNs = Number.POSITIVE_INFINITY;
  for (const [i, { isOptional, toNs }] of ordered.entries()) {
    if (!isOptional && (done & bit(i)) === 0n) firstEndNs = Math.min(firstEndNs, toNs);
  }
  const moves: Node[] = [];
  for (const [i, { effect, fromNs, isOptional }] of ordered.entries()) {
    if ((done & bit(i)) !== 0n || fromNs > firstEndNs) continue;
    const next = after(model, state, effect);
    if (next === undefined) continue;
    // An end needs no bit: what has left does not come again, so that there is nothing to end twice.
    const isEnd = isOptional && effect.does === 'leave';
    moves.push({ done: isEnd ? done : done | bit(i), state: next });
  }
  return moves;
}

/** The state after the effect; undefined when the model does not allow it. */
function after(model: Model, state: State, effect: Effect): State | undefined {
  switch (effect.does) {
    case 'enter':
      return model.admits(state, effect.entry) ? entered(state, effect.entry) : undefined;
    case 'find taken':
      return model.admits(state, effect.entry) ? undefined : state;
    case 'leave':
      return left(state, effect.hold);
  }
}

function nameOf({ done, state: { inside, highestToken } }: Node): string {
  const holds = inside.map(({ hold }) => hold).sort();
  return `${done.toString(36)} ${holds.join(',')} ${highestToken}`;
}

function bit(place: number): bigint {
  return 1n << BigInt(place);
}
