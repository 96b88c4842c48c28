/** Simulated time: what happens when, numbers that come again with their seed, and processes that stop and die. */

/** Does what is due, in order of time. Times are milliseconds. */
export class Agenda {
  now = 0;
  readonly #due: { time: number; act: () => void }[] = [];

  at(time: number, act: () => void): void {
    this.#due.push({ time: Math.max(time, this.now), act });
  }

  /** Runs until nothing is due any more. */
  run(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.now = next.time;
      next.act();
    }
  }

  #next(): { time: number; act: () => void } | undefined {
    let first = 0;
    for (const [i, { time }] of this.#due.entries()) {
      if (time < (this.#due[first]?.time ?? 0)) first = i;
    }
    return this.#due.splice(first, 1)[0];
  }
}

export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, not including, 1. The generator is mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }
}

export class Proc {
  readonly name: string;
  readonly #agenda: Agenda;
  isDead = false;
  stalledUntil = 0;

  constructor(agenda: Agenda, name: string) {
    this.#agenda = agenda;
    this.name = name;
  }

  /** Runs then, or when the process runs again; not in a dead process. */
  at(time: number, act: () => void): void {
    this.#agenda.at(time, () => {
      if (this.isDead) return;
      if (this.#agenda.now < this.stalledUntil) this.at(this.stalledUntil, act);
      else act();
    });
  }
}
