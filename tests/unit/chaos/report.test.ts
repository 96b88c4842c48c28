/** The report of a run: what was broken stands in it, and what no client can keep stands apart. */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../chaos/fault.ts';
import { toHtml } from '../../../chaos/report/html.ts';
import { toMarkdown } from '../../../chaos/report/markdown.ts';
import { type CellSummary, makeReport, type RunSummary } from '../../../chaos/report/report.ts';
import type { Violation } from '../../../src/testing/index.ts';

const violation: Violation = {
  kind: 'overlap',
  key: 'k',
  text: 'p1 and <p2> were inside',
  fromNs: 0,
  toNs: 1,
  holds: [],
  procs: [],
};

const fault: Fault = {
  name: 'flushed',
  rows: [19],
  stages: ['one'],
  lastsMs: [1, 1],
  exempts: () => ({ violations: ['overlap'], why: 'It is gone | for all.' }),
  start: async () => {},
  stop: async () => {},
};

function cell(name: string, found: Partial<CellSummary>): CellSummary {
  return {
    cell: { name, seed: 's', visits: [], strikes: [{ fault, atMs: 0, lastsMs: 1 }], lastsMs: 1 },
    mode: 'guarded',
    verdict: {
      verdict: 'valid',
      violations: [],
      figures: {
        operations: 600_000,
        grants: 1,
        windows: 1,
        losses: { expired: 2 },
        faults: 1,
        worstTakeoverMs: 12.4,
        worstLossLatenessMs: 3,
      },
    },
    broken: [],
    exempt: [],
    faults: ['flushed'],
    tookMs: 1_000,
    ...found,
  };
}

const counted = { written: 10, refused: 0, lost: 3 };
const run: RunSummary = {
  seed: '7',
  command: 'npm run chaos',
  startedAt: new Date(0),
  tookMs: 60_000,
  servers: ['redis-7'],
  cells: [cell('a', { exempt: [violation] }), cell('b', {})],
  faults: [fault],
  witness: { plain: counted, memory: { ...counted, lost: 0 }, sql: { ...counted, lost: 0 } },
  broken: [],
  mutants: undefined,
  model: undefined,
};

describe('the report', () => {
  it('sums up the operations and findings', () => {
    const text = toMarkdown(makeReport(run));
    expect(text).toContain('| Operations checked | 1,200,000 |');
    expect(text).toContain('| Faults injected | 2 |');
    expect(text).toContain('| Violations of a promise | 0 |');
    expect(text).toContain('| Violations where none is promised | 1 |');
    expect(text).toContain('| Updates lost without fencing | 3 of 10 |');
    expect(text).toContain('| Longest time until a waiter took over | 12 ms |');
  });

  it('lists where nothing is promised, and why, without breaking its table', () => {
    expect(toMarkdown(makeReport(run))).toContain('| a | 1 × overlap | It is gone \\| for all. |');
  });

  it('lists every broken promise with its timeline, and the reports of workers', () => {
    const bad = {
      ...run,
      cells: [cell('a', { broken: [violation], timeline: 'a.html' })],
      broken: ['a leak'],
    };
    const text = toMarkdown(makeReport(bad));
    expect(text).toContain('| Violations of a promise | 2 |');
    expect(text).toContain('| a | overlap | p1 and <p2> were inside | a.html |');
    expect(text).toContain('| a leak |');
    const page = toHtml(makeReport(bad));
    expect(page).toContain('<a href="a.html">a.html</a>');
    expect(page).toContain('p1 and &#60;p2&#62; were inside');
  });
});
