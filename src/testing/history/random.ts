/** Pseudo-random numbers that a seed reproduces. */
export class Random {
  #state: number;

  constructor(seed: number | string) {
    this.#state = typeof seed === 'number' ? seed >>> 0 : hash(seed);
  }

  /** From 0 up to, not including, 1. The generator is mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** From `least` to `most`, not including `most`. */
  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  integer(least: number, most: number): number {
    return Math.floor(this.between(least, most + 1));
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error('Nothing to pick from');
    return from[this.integer(0, from.length - 1)] as T;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  shuffle<T>(items: readonly T[]): T[] {
    const left = [...items];
    return items.map(() => left.splice(this.integer(0, left.length - 1), 1)[0] as T);
  }

  /** Another sequence, determined by this seed and the label. */
  fork(label: string): Random {
    return new Random(`${this.#state}/${label}`);
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let hashed = 0x811c9dc5;
  for (const unit of Buffer.from(text)) hashed = Math.imul(hashed ^ unit, 0x01000193) >>> 0;
  return hashed;
}
