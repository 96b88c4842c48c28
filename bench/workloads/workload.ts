/**
 * A workload: who takes part, how one of them is measured, and which figures come out.
 */
import type { Contestant } from '../contestants/contestant.ts';
import type { Stage } from '../machine/stage.ts';
import type { Pace } from '../pace.ts';

export type Figures = Readonly<Record<string, number>>;

/** A figure as the report shows it; the first of a workload is the one that counts. */
export interface Column {
  readonly figure: string;
  readonly title: string;
  readonly unit: string;
  readonly digits: number;
  readonly better: 'higher' | 'lower';
}

export interface Workload {
  readonly id: string;
  /** Other names for `--only`. */
  readonly aliases?: readonly string[];
  readonly title: string;
  readonly contestants: readonly Contestant[];
  readonly columns: readonly [Column, ...Column[]];
  measure(stage: Stage, contestant: Contestant, pace: Pace): Promise<Figures>;
}
