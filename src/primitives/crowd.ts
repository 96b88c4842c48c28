/**
 * What those who wait for the same thing in this process know of each other.
 *
 * A line serves its waiters one after the other. Where there is room for many that is too strict, and this is
 * what it takes to do better: whether anybody waits at all, and who had come before a certain look was taken.
 */
import { classify, toHoldfastError } from '../drivers/outcome.ts';
import { acquire, type Contest, type Earlier } from '../runtime/acquire.ts';
import type { Clock } from '../runtime/clock.ts';
import { EXPIRED, type Patience } from '../runtime/patience.ts';
import type { Runtime } from '../runtime/runtime.ts';

export class Crowd {
  #came = 0;
  #inside = 0;
  #servedUpTo = 0;

  get isEmpty(): boolean {
    return this.#inside === 0;
  }

  /** How many have come so far: a newcomer's number, or what to note before a look. */
  get came(): number {
    return this.#came;
  }

  enter(): void {
    this.#came += 1;
    this.#inside += 1;
  }

  leave(): void {
    this.#inside -= 1;
  }

  /** A look, before which this many had come, found what they all wait for. */
  serve(upTo: number): void {
    this.#servedUpTo = Math.max(this.#servedUpTo, upTo);
  }

  isServed(number: number): boolean {
    return number <= this.#servedUpTo;
  }
}

export class Crowds {
  readonly #crowds = new Map<string, Crowd>();

  /** Whether somebody waits under that id. */
  has(id: string): boolean {
    return this.#crowds.has(id);
  }

  /** The ids under which somebody waits and that begin like this. */
  idsFrom(prefix: string): string[] {
    return [...this.#crowds.keys()].filter((id) => id.startsWith(prefix));
  }

  /** Has the work done as one of the crowd of that id, which is there while somebody is in it. */
  async among<T>(id: string, work: (crowd: Crowd) => Promise<T>): Promise<T> {
    const crowd = this.#crowds.get(id) ?? new Crowd();
    this.#crowds.set(id, crowd);
    crowd.enter();
    try {
      return await work(crowd);
    } finally {
      crowd.leave();
      if (crowd.isEmpty) this.#crowds.delete(id);
    }
  }
}

/**
 * Attempts once without standing in line. What goes wrong is for the line to repeat; after `troubleUntil`, by the
 * clock, it is an error.
 *
 * @throws the abort reason, or a HoldfastError
 */
export async function attemptBeside<T>(
  contest: Contest<T>,
  patience: Patience,
  clock: Clock,
  troubleUntil: number,
): Promise<'granted' | 'busy' | 'transient' | 'unknown'> {
  try {
    // Without a limit of its own: the next attempt must not be sent while this one is under way.
    const answer = await patience.wait(contest.attempt(), Number.POSITIVE_INFINITY);
    return answer !== EXPIRED && answer.granted ? 'granted' : 'busy';
  } catch (error) {
    patience.throwIfAborted();
    const outcome = classify(error);
    if (outcome === 'refused' || clock.now() >= troubleUntil) throw toHoldfastError(error, contest.what);
    return outcome;
  }
}

/**
 * Takes something that there may be more of. While nobody of this process waits under that id, newcomers ask side
 * by side: in line, each would wait for the round trips of those before it though there may be room for all.
 *
 * @throws the abort reason, or a HoldfastError
 */
export async function acquireAmong<T>(
  crowds: Crowds,
  id: string,
  contest: Contest<T>,
  patience: Patience,
  runtime: Runtime,
): Promise<boolean> {
  // Who tries only once waits for nobody.
  if (patience.isOver) return (await acquire(contest, runtime.line(null), patience, runtime)).granted;
  let earlier: Earlier | undefined;
  if (!crowds.has(id)) {
    const { clock, commandTimeoutMs } = runtime;
    const since = clock.now();
    const isUnlimited = patience.endsAt === Number.POSITIVE_INFINITY;
    const troubleUntil = isUnlimited ? since + commandTimeoutMs : patience.endsAt;
    const beside = await attemptBeside(contest, patience, clock, troubleUntil);
    if (beside === 'granted') return true;
    earlier = { since, answered: beside === 'busy', inDoubt: beside === 'unknown' };
  }
  return crowds.among(id, async () => {
    return (await acquire(contest, runtime.line(id), patience, runtime, earlier)).granted;
  });
}
