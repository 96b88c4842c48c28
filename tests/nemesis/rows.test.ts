/** Nothing of the matrix of faults is left out, and nothing of it is exempt that is promised. */
import { describe, expect, it } from 'vitest';
import type { Mode } from '../../chaos/fault.ts';
import { CLIENT_CLOCK_FAULTS } from '../../chaos/faults/client-clocks.ts';
import { FAULTS, ROWS_OF_WORKLOADS } from '../../chaos/faults/index.ts';
import { PROCESS_FAULTS } from '../../chaos/faults/processes.ts';
import { SIGHTS } from './support/sights.ts';

/** The mix of all, row 30, is made by the plan. */
const ROWS = Array.from({ length: 40 }, (_, index) => index + 1).filter((row) => row !== 30);

const PLAIN: Mode = { guard: false, replicas: 'auto', watchdogMs: 1_000 };
const GUARDED: Mode = { ...PLAIN, guard: true };

describe('the faults', () => {
  it('inject every row, or name it as covered by the workloads', () => {
    const injected = new Set(FAULTS.flatMap(({ rows }) => rows));
    const missing = ROWS.filter((row) => !injected.has(row) && !ROWS_OF_WORKLOADS.has(row));
    expect(missing).toEqual([]);
    expect([...injected, ...ROWS_OF_WORKLOADS.keys()].filter((row) => !ROWS.includes(row))).toEqual([]);
  });

  it('have unique names', () => {
    const names = FAULTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('are each seen by a test', () => {
    const seen = [
      ...Object.keys(SIGHTS),
      ...[...PROCESS_FAULTS, ...CLIENT_CLOCK_FAULTS].map(({ name }) => name),
    ];
    expect(seen.sort()).toEqual(FAULTS.map(({ name }) => name).sort());
  });

  it('that allow two holders at once remove holds on the server', () => {
    const silent = FAULTS.filter(
      ({ exempts, removesHolds }) => exempts !== undefined && removesHolds !== true,
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('with the guard, allow two holders at once only if the server does not report its loss of data', () => {
    const breaking = (mode: Mode) =>
      FAULTS.filter(({ exempts }) => exempts?.(mode)?.violations.includes('overlap')).map(({ name }) => name);
    expect(breaking(GUARDED)).toEqual([
      'data-flushed',
      'locks-evicted',
      'server-clock-ahead',
      'server-clock-behind',
      'member-clock-ahead',
      'member-clock-behind',
    ]);
    expect(breaking(PLAIN).length).toBeGreaterThan(breaking(GUARDED).length);
  });
});
