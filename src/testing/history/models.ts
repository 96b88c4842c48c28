/**
 * Models of locks, without time and network: which holds may enter, given those that are inside.
 */

/** A hold in a model. */
export interface Entry {
  readonly hold: string;
  readonly party: string;
  readonly side: 'read' | 'write';
  readonly permits: number;
  readonly token: number | undefined;
}

export interface State {
  readonly inside: readonly Entry[];
  /** The highest token granted. */
  readonly highestToken: number;
}

export interface Model {
  readonly name: string;
  /** Whether the hold may enter. */
  admits(state: State, entry: Entry): boolean;
}

export const EMPTY: State = { inside: [], highestToken: Number.NEGATIVE_INFINITY };

/** One hold at a time. */
export const mutex: Model = {
  name: 'mutex',
  admits: ({ inside }) => inside.length === 0,
};

/** One party at a time, any number of times. */
export const reentrant: Model = {
  name: 'reentrant lock',
  admits: ({ inside }, { party }) => inside.every((other) => other.party === party),
};

/** One hold at a time, each with a higher token than all before. */
export const fenced: Model = {
  name: 'fenced lock',
  admits: (state, entry) => mutex.admits(state, entry) && isFresh(state, entry),
};

/** One party at a time, with one token for as long as it is inside. */
export const reentrantFenced: Model = {
  name: 'reentrant fenced lock',
  admits(state, entry) {
    if (!reentrant.admits(state, entry)) return false;
    const [outer] = state.inside;
    return outer === undefined ? isFresh(state, entry) : isSame(outer, entry);
  },
};

/** Any number of readers, or one party that writes and may also read. */
export const readWrite: Model = {
  name: 'read/write lock',
  admits({ inside }, { party, side }) {
    if (side === 'read') return inside.every((other) => other.side === 'read' || other.party === party);
    const writes = inside.some((other) => other.side === 'write');
    return inside.every((other) => other.party === party) && (inside.length === 0 || writes);
  },
};

/** As many holds as there are permits. */
export function semaphore(permits: number): Model {
  return {
    name: `semaphore of ${permits}`,
    admits: ({ inside }, entry) =>
      inside.reduce((sum, other) => sum + other.permits, entry.permits) <= permits,
  };
}

/** The state after the hold entered. */
export function entered({ inside, highestToken }: State, entry: Entry): State {
  return { inside: [...inside, entry], highestToken: Math.max(highestToken, entry.token ?? highestToken) };
}

/** The state after the hold left; undefined if it was not inside. */
export function left({ inside, highestToken }: State, hold: string): State | undefined {
  const others = inside.filter((entry) => entry.hold !== hold);
  return others.length === inside.length ? undefined : { inside: others, highestToken };
}

/** A token that the history does not record may have any value. */
function isFresh({ highestToken }: State, { token }: Entry): boolean {
  return token === undefined || token > highestToken;
}

function isSame(outer: Entry, { token }: Entry): boolean {
  return token === undefined || outer.token === undefined || token === outer.token;
}
