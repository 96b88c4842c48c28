/**
 * A plain model of the web locks of two clients: who is inside, who waits, and who may come in when somebody leaves.
 *
 * Between clients there is no order, so that the model does not say who comes in; it judges whether those who did
 * were allowed to, and whether nobody waits who could be inside. Asking the real ones is left to `web-locks.test.ts`.
 */
import { expect } from 'vitest';
import type { WebLockMode } from '../../../src/index.ts';

/** A request, from being made to its end. */
export interface Request {
  readonly id: number;
  readonly client: number;
  readonly letter: string;
  readonly mode: WebLockMode;
  /** It came with a signal. */
  readonly isAbortable: boolean;
  state: 'waiting' | 'inside' | 'over';
  /** It gave the lock back before its callback has ended. */
  hasLeft: boolean;
  /** The lock was stolen: `forced` when its own client did that, and so knows of it. */
  lost: 'forced' | 'notOwner' | undefined;
}

/** What the server has of one name. */
export interface Found {
  /** The clients of those who hold it. */
  readonly holders: readonly number[];
  /** The clients whose exclusive request is noted as waiting, so that shared ones stand back. */
  readonly notes: readonly number[];
}

const CLIENTS = [0, 1];

function inOrder(clients: readonly number[]): number[] {
  return [...clients].sort((a, b) => a - b);
}

export class WebLocksModel {
  readonly requests: Request[] = [];
  /** The clients whose foremost exclusive request for the name is known to be noted. */
  readonly #noted = new Map<string, ReadonlySet<number>>();

  in(state: Request['state']): Request[] {
    return this.requests.filter((request) => request.state === state);
  }

  /** Those who hold it on the server. */
  holders(letter: string): Request[] {
    return this.in('inside').filter((each) => {
      return each.letter === letter && !each.hasLeft && each.lost === undefined;
    });
  }

  /** Those who wait for it, in the order they came. */
  waiting(letter: string, mode: WebLockMode, client?: number): Request[] {
    return this.in('waiting').filter((each) => {
      return each.letter === letter && each.mode === mode && (client ?? each.client) === each.client;
    });
  }

  /** Whether it can be had at once. */
  isAvailable(letter: string, mode: WebLockMode): boolean {
    const holders = this.holders(letter);
    if (mode === 'exclusive') return holders.length === 0;
    return holders.every((each) => each.mode === 'shared') && this.waiting(letter, 'exclusive').length === 0;
  }

  make(request: Omit<Request, 'id' | 'state' | 'hasLeft' | 'lost'>, state: Request['state']): Request {
    const { letter, mode, client } = request;
    const isForemost = mode === 'exclusive' && this.waiting(letter, mode, client).length === 0;
    const made: Request = { ...request, id: this.requests.length, state, hasLeft: false, lost: undefined };
    // Who is the first of its client asks the server at once, and is noted there when it has to wait.
    if (state === 'waiting' && isForemost && this.holders(letter).length > 0) {
      this.#note(letter, [...this.#notedAt(letter), client]);
    }
    this.requests.push(made);
    return made;
  }

  /** The lock is taken from all who hold it; what the thief's own client believes to hold it knows to be lost. */
  rob(letter: string, thief: number): void {
    for (const each of this.in('inside')) {
      if (each.letter !== letter || each.hasLeft) continue;
      if (each.client === thief) each.lost = 'forced';
      else each.lost ??= 'notOwner';
    }
  }

  giveUp(request: Request): void {
    const { letter, mode, client } = request;
    const [foremost, next] = this.waiting(letter, mode, client);
    if (mode === 'exclusive' && foremost === request && next === undefined) {
      const others = [...this.#notedAt(letter)].filter((each) => each !== client);
      this.#note(letter, others);
    }
    request.state = 'over';
  }

  /** Judges that these have come in and what is found on the server, and goes on from there. */
  comeIn(letter: string, came: readonly Request[], found: Found): void {
    const noted = this.#notedAt(letter);
    const waits = (each: Request) => !came.includes(each);
    const writers = this.waiting(letter, 'exclusive').filter(waits);
    const readers = this.waiting(letter, 'shared').filter(waits);
    const holders = [...this.holders(letter), ...came];

    expect(inOrder(found.holders)).toEqual(inOrder(holders.map(({ client }) => client)));
    const isExclusive = holders.some(({ mode }) => mode === 'exclusive');
    if (isExclusive) expect(holders, 'inside with an exclusive one').toHaveLength(1);
    if (holders.length === 0) expect([...writers, ...readers], 'waiting though it is free').toEqual([]);
    if (!isExclusive && writers.length === 0) expect(readers, 'waiting though they could share').toEqual([]);
    for (const client of CLIENTS) {
      for (const mode of ['exclusive', 'shared'] as const) {
        const line = this.waiting(letter, mode, client);
        const passed = came.filter((each) => each.mode === mode && each.client === client);
        expect(passed, 'in the order of their client').toEqual(line.slice(0, passed.length));
      }
    }
    const isPassed = came.some(({ mode }) => mode === 'shared') && noted.size > 0;
    expect(isPassed, 'a shared one came in before a noted exclusive one').toBe(false);

    const heads = CLIENTS.filter((client) => writers.some((each) => each.client === client));
    // While somebody is alone inside, the next of a client need not have asked yet: everybody else waits anyway.
    const mayBe = isExclusive ? heads.filter((client) => found.notes.includes(client)) : heads;
    expect(inOrder(found.notes), 'noted').toEqual(mayBe);
    const isInside = (client: number) =>
      came.some((each) => each.mode === 'exclusive' && each.client === client);
    const stillNoted = [...noted].filter((client) => !isInside(client));
    expect(found.notes, 'noted').toEqual(expect.arrayContaining(stillNoted));
    this.#note(letter, found.notes);
    for (const each of came) each.state = 'inside';
  }

  /** What `query()` of a client lists, each request as the caller describes it. */
  query<T>(client: number, infoOf: (request: Request) => T): { held: T[]; pending: T[] } {
    const pending = this.in('waiting').filter((each) => each.client === client);
    const own = this.in('inside').filter((each) => {
      return each.client === client && !each.hasLeft && each.lost !== 'forced';
    });
    const letters = new Set([...pending, ...own].map(({ letter }) => letter));
    const others = [...letters].flatMap((letter) => {
      return this.holders(letter).filter((each) => each.client !== client);
    });
    return { held: [...own, ...others].map(infoOf), pending: pending.map(infoOf) };
  }

  #notedAt(letter: string): ReadonlySet<number> {
    return this.#noted.get(letter) ?? new Set();
  }

  #note(letter: string, clients: readonly number[]): void {
    this.#noted.set(letter, new Set(clients));
  }
}
