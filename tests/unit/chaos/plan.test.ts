/** The plan of a run: it comes again with its seed, and leaves nothing out. */
import { describe, expect, it } from 'vitest';
import type { Fault, StageName } from '../../../chaos/fault.ts';
import { type PlanOptions, planRun, SERVERS } from '../../../chaos/plan.ts';

const STAGES: readonly StageName[] = ['one', 'masters'];

function fault(name: string, given: Partial<Fault> = {}): Fault {
  return {
    name,
    rows: [10],
    stages: STAGES,
    lastsMs: [100, 300],
    start: async () => {},
    stop: async () => {},
    ...given,
  };
}

const FAULTS = [
  fault('cut'),
  fault('killed', { rows: [1] }),
  fault('slow', { lastsMs: [9_000, 9_000], stages: ['one'] }),
  fault('restarted', {
    exempts: ({ guard }) => ({
      violations: guard ? ['not-conserved'] : ['not-conserved', 'overlap'],
      why: 'It forgets.',
    }),
  }),
  fault('flushed', { exempts: () => ({ violations: ['overlap'], why: 'It is gone.' }) }),
];

const OPTIONS: PlanOptions = { seed: '7', faults: FAULTS, stages: STAGES, singleMs: 2_000, mixMs: 5_000 };

const cellsOf = (options: Partial<PlanOptions> = {}) =>
  planRun({ ...OPTIONS, ...options }).flatMap(({ cells }) => cells);
const namesOf = (options: Partial<PlanOptions> = {}) => cellsOf(options).map(({ name }) => name);

describe('the plan of a run', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(cellsOf()).toEqual(cellsOf());
    expect(cellsOf({ seed: '8' })).not.toEqual(cellsOf());
  });

  it('has each fault alone once, where it applies; another seed puts it elsewhere', () => {
    const names = namesOf();
    for (const { name, stages } of FAULTS) {
      const all = SERVERS.flatMap((server) => STAGES.map((stage) => ({ server, stage })));
      const here = all.filter(({ server, stage }) => names.includes(`${server}/${stage}/guarded/${name}`));
      expect(here).toHaveLength(1);
      expect(stages).toContain(here[0]?.stage);
    }
    expect(new Set(names).size).toBe(names.length);
    const places = ['1', '2', '3', '4', '5', '6', '7', '8'].map((seed) =>
      namesOf({ seed }).find((name) => name.endsWith('guarded/cut')),
    );
    expect(new Set(places).size).toBeGreaterThan(2);
  });

  it('runs faults without the guard that only the guard can handle', () => {
    const plain = namesOf().filter((name) => name.includes('/plain/'));
    expect(plain.length).toBeGreaterThan(0);
    expect(plain.every((name) => name.endsWith('/restarted'))).toBe(true);
  });

  it('lets a storm last until its faults have ended, and strikes at least once', () => {
    const slow = cellsOf().find(({ name }) => name.endsWith('/slow'));
    expect(slow?.strikes).toHaveLength(1);
    expect(slow?.lastsMs).toBeGreaterThan(9_000);
    for (const { strikes } of cellsOf()) expect(strikes.length).toBeGreaterThan(0);
  });

  it('mixes faults that keep every promise, and uses only locks where data is lost', () => {
    const mix = cellsOf().find(({ name }) => name === 'redis-7/one/guarded/mix');
    const losses = cellsOf().find(({ name }) => name === 'redis-7/one/guarded/mix-of-losses');
    const struck = (cell: typeof mix) => new Set(cell?.strikes.map((strike) => strike.fault.name));
    expect(struck(mix)).not.toContain('restarted');
    expect(struck(mix)).not.toContain('flushed');
    expect(mix?.visits).toContain('semaphore');
    expect(losses?.visits).toContain('lock');
    expect(losses?.visits).not.toContain('semaphore');
  });

  it('limits a quick run to one mix for each place, which the seed picks', () => {
    const mixesOf = (seed: string) =>
      namesOf({ seed, singleMs: 0, isOneMixEnough: true }).filter((name) => name.startsWith('redis-7/one/'));
    const picked = ['1', '2', '3', '4', '5', '6', '7', '8'].map(mixesOf);
    for (const names of picked) expect(names).toHaveLength(1);
    expect(new Set(picked.flat()).size).toBe(2);
  });

  it('strikes in order of time, one after the other in each lane', () => {
    const mix = cellsOf({ mixMs: 60_000 }).find(({ name }) => name === 'redis-7/one/guarded/mix');
    const times = mix?.strikes.map(({ atMs }) => atMs) ?? [];
    expect(times).toEqual([...times].sort((a, b) => a - b));
    const ofProcesses = mix?.strikes.filter((strike) => strike.fault.name === 'killed') ?? [];
    expect(ofProcesses.length).toBeGreaterThan(5);
    for (const [index, { atMs }] of ofProcesses.entries()) {
      const before = ofProcesses[index - 1];
      if (before !== undefined) expect(atMs).toBeGreaterThan(before.atMs + before.lastsMs);
    }
  });

  it('replays the cells whose names contain a text, on both servers', () => {
    expect(namesOf({ only: 'masters/guarded/cut' })).toEqual([
      'redis-7/masters/guarded/cut',
      'valkey-8/masters/guarded/cut',
    ]);
  });

  it('uses independent servers for red locks only', () => {
    for (const { name, visits } of cellsOf()) {
      expect(visits.includes('red'), name).toBe(name.includes('/masters/'));
    }
  });
});
