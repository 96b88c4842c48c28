/**
 * What a lock is, without time and without a network: which holds may come in, given those that are inside.
 */

/** A hold as a model sees it. */
export interface Entry {
  readonly hold: string;
  readonly party: string;
  readonly side: 'read' | 'write';
  readonly permits: number;
  readonly token: number | undefined;
}

export interface State {
  readonly inside: readonly Entry[];
  /** The highest token that was given out. */
  readonly highestToken: number;
}

export interface Model {
  readonly name: string;
  /** Whether it may come in. */
  admits(state: State, entry: Entry): boolean;
}

export const EMPTY: State = { inside: [], highestToken: Number.NEGATIVE_INFINITY };

/** One at a time. */
export const mutex: Model = {
  name: 'mutex',
  admits: ({ inside }) => inside.length === 0,
};

/** One party at a time, as often as it likes. */
export const reentrant: Model = {
  name: 'reentrant lock',
  admits: ({ inside }, { party }) => inside.every((other) => other.party === party),
};

/** One at a time, each with a higher token than all before. */
export const fenced: Model = {
  name: 'fenced lock',
  admits: (state, entry) => mutex.admits(state, entry) && isFresh(state, entry),
};

/** One party at a time; it has one token for as long as it is inside. */
export const reentrantFenced: Model = {
  name: 'reentrant fenced lock',
  admits(state, entry) {
    if (!reentrant.admits(state, entry)) return false;
    const [outer] = state.inside;
    return outer === undefined ? isFresh(state, entry) : isSame(outer, entry);
  },
};

/** Readers together, or one party that writes and may read, too. */
export const readWrite: Model = {
  name: 'read/write lock',
  admits({ inside }, { party, side }) {
    if (side === 'read') return inside.every((other) => other.side === 'read' || other.party === party);
    const writes = inside.some((other) => other.side === 'write');
    return inside.every((other) => other.party === party) && (inside.length === 0 || writes);
  },
};

/** As many as there are permits. */
export function semaphore(permits: number): Model {
  return {
    name: `semaphore of ${permits}`,
    admits: ({ inside }, entry) =>
      inside.reduce((sum, other) => sum + other.permits, entry.permits) <= permits,
  };
}

/** The state after it came in. */
export function entered({ inside, highestToken }: State, entry: Entry): State {
  return { inside: [...inside, entry], highestToken: Math.max(highestToken, entry.token ?? highestToken) };
}

/** The state after it left; undefined when it was not inside. */
export function left({ inside, highestToken }: State, hold: string): State | undefined {
  const others = inside.filter((entry) => entry.hold !== hold);
  return others.length === inside.length ? undefined : { inside: others, highestToken };
}

/** A token that the history does not tell may be any. */
function isFresh({ highestToken }: State, { token }: Entry): boolean {
  return token === undefined || token > highestToken;
}

function isSame(outer: Entry, { token }: Entry): boolean {
  return token === undefined || outer.token === undefined || token === outer.token;
}
