/**
 * What a run has found, and how to look things up in it.
 */
import type { Contestant } from './contestants/contestant.ts';
import { median } from './statistics.ts';
import type { Figures, Workload } from './workloads/workload.ts';

export interface Measurement {
  readonly repetition: number;
  readonly figures: Figures;
  /** How often it was made until the machine was quiet, or given up. */
  readonly tries: number;
  /** Whether the machine was still busy with something else at the last try. */
  readonly isDisturbed: boolean;
}

export interface Entry {
  readonly contestant: Contestant;
  readonly measurements: Measurement[];
  /** Why there are fewer measurements than repetitions. */
  readonly failures: string[];
}

export interface Row {
  readonly workload: Workload;
  readonly entries: readonly Entry[];
}

export interface Missing {
  readonly contestant: Contestant;
  readonly why: string;
}

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface Results {
  readonly rows: readonly Row[];
  readonly missing: readonly Missing[];
}

export function valuesOf({ measurements }: Entry, figure: string): readonly number[] {
  return measurements.map(({ figures }) => figures[figure] ?? Number.NaN);
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

export function isDisturbed({ measurements }: Entry): boolean {
  return measurements.some((measurement) => measurement.isDisturbed);
}

/** The entry of a contestant in a workload, if it took part and was measured. */
export function entryOf({ rows }: Results, workload: string, contestant: string): Entry | undefined {
  const row = rows.find((candidate) => candidate.workload.id === workload);
  const entry = row?.entries.find((candidate) => candidate.contestant.id === contestant);
  return entry === undefined || entry.measurements.length === 0 ? undefined : entry;
}

/** The best of the npm packages in a workload, by its first figure. */
export function bestLibrary({ rows }: Results, workload: string): Entry | undefined {
  const row = rows.find((candidate) => candidate.workload.id === workload);
  if (row === undefined) return undefined;
  const [{ figure, better }] = row.workload.columns;
  const sign = better === 'higher' ? -1 : 1;
  const rank = (entry: Entry) => sign * median(valuesOf(entry, figure));
  return row.entries
    .filter(({ contestant, measurements }) => contestant.kind === 'library' && measurements.length > 0)
    .sort((a, b) => rank(a) - rank(b))[0];
}

/** How many times as much one has as another, repetition by repetition. */
export function ratiosOf(of: Entry, to: Entry, figure: string): readonly number[] {
  const others = new Map(to.measurements.map(({ repetition, figures }) => [repetition, figures[figure]]));
  return of.measurements
    .filter(({ repetition }) => others.has(repetition))
    .map(
      ({ repetition, figures }) => (figures[figure] ?? Number.NaN) / (others.get(repetition) ?? Number.NaN),
    );
}
