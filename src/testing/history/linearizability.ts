/**
 * Searches for an order of concurrent operations that a model allows: the algorithm of Wing and Gong, with Lowe's
 * memory of visited states. Each operation takes effect at one moment between its invocation and its outcome.
 *
 * An operation that may not have happened can be left out of the order: an acquisition in doubt, a release in doubt,
 * the end of a lease.
 */
import { EMPTY, type Entry, entered, left, type Model, type State } from './models.ts';

export type Effect =
  /** Enters. */
  | { readonly does: 'enter'; readonly entry: Entry }
  /** Is refused; the lock must be unable to admit it. */
  | { readonly does: 'find taken'; readonly entry: Entry }
  /** Leaves, by a release or by the end of its lease. */
  | { readonly does: 'leave'; readonly hold: string };

export interface Operation {
  readonly effect: Effect;
  readonly fromNs: number;
  /** `Infinity` if it may take effect at any later time. */
  readonly toNs: number;
  /** The order may leave it out. */
  readonly isOptional: boolean;
}

export interface SearchResult {
  readonly verdict: 'valid' | 'invalid' | 'unknown';
  /** The number of moves tried. */
  readonly steps: number;
}

interface Node {
  /** One bit for each operation that has taken effect. */
  readonly done: bigint;
  readonly state: State;
}

/** Searches for an order; gives up after `maxSteps`. */
export function search(model: Model, operations: readonly Operation[], maxSteps: number): SearchResult {
  // Try the earliest end first: the real order is mostly close to that.
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

/** The possible next operations: those that began before the earliest end of the remaining ones. */
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
    // An optional end needs no bit: a hold that has left does not enter again, so it cannot end twice.
    const isEnd = isOptional && effect.does === 'leave';
    moves.push({ done: isEnd ? done : done | bit(i), state: next });
  }
  return moves;
}

/** The state after the effect; undefined if the model does not allow it. */
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
