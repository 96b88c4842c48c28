/**
 * What a scenario is, and what it answers with.
 */

export interface Figure {
  readonly what: string;
  readonly value: number;
  /** What the value counts: `x` for a ratio. */
  readonly unit: string;
}

export interface Scenario {
  readonly title: string;
  /** Measures on the server at this address, within a few seconds. */
  run(url: string): Promise<Figure[]>;
}
