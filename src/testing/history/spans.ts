/** Sets of time intervals: what they cover, and the rest. */

/** A time interval, its end not included. */
export type Span = readonly [fromNs: number, toNs: number];

/** A set of intervals, for queries about other intervals. */
export class Spans {
  /** Ordered and disjoint. */
  readonly #spans: [number, number][] = [];

  constructor(spans: Iterable<Span>) {
    for (const [from, to] of [...spans].sort(([a], [b]) => a - b)) {
      const last = this.#spans.at(-1);
      if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
      else this.#spans.push([from, to]);
    }
  }

  /** Whether any of the interval is covered. */
  touches(fromNs: number, toNs: number): boolean {
    const [from] = this.#spans[this.#firstAfter(fromNs)] ?? [Number.POSITIVE_INFINITY];
    return from < toNs;
  }

  /** How much of the interval is not covered. */
  uncoveredNs(fromNs: number, toNs: number): number {
    return this.gaps(fromNs, toNs).reduce((sum, [from, to]) => sum + to - from, 0);
  }

  /** The parts of the interval that are not covered. */
  gaps(fromNs: number, toNs: number): Span[] {
    const gaps: Span[] = [];
    let at = fromNs;
    for (let i = this.#firstAfter(fromNs); at < toNs; i += 1) {
      const [from, to] = this.#spans[i] ?? [toNs, toNs];
      if (from > at) gaps.push([at, Math.min(from, toNs)]);
      at = Math.max(at, to);
    }
    return gaps;
  }

  /** The parts of the interval that are covered. */
  parts(fromNs: number, toNs: number): Span[] {
    const parts: Span[] = [];
    for (let i = this.#firstAfter(fromNs); (this.#spans[i]?.[0] ?? toNs) < toNs; i += 1) {
      const [from, to] = this.#spans[i] as Span;
      parts.push([Math.max(from, fromNs), Math.min(to, toNs)]);
    }
    return parts;
  }

  /** The index of the first interval that ends after this moment. */
  #firstAfter(atNs: number): number {
    let [low, high] = [0, this.#spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#spans[middle] as Span)[1] > atNs) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

export const NO_SPANS = new Spans([]);
