/**
 * Writes the report into a folder: Markdown to read, JSON to compute with, a chart for each workload.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { goalsOf, isReached } from './goals.ts';
import { markdownReport, type Report } from './markdown.ts';
import { chartName, drawChart } from './svg.ts';

/** Enough to compute ratios with; more is noise. */
const SIGNIFICANT = 6;

function jsonReport({ results, machine, pace }: Report): string {
  const rows = results.rows.map(({ workload, entries }) => ({
    workload: workload.id,
    title: workload.title,
    entries: entries.map(({ contestant, measurements, failures }) => ({
      contestant: contestant.id,
      measurements,
      failures,
    })),
  }));
  const goals = goalsOf(results).map((goal) => ({ ...goal, isReached: isReached(goal) }));
  const missing = results.missing.map(({ contestant, why }) => ({ contestant: contestant.id, why }));
  const round = (_key: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(SIGNIFICANT)) : value;
  const report = { pace: pace.name, machine, goals, missing, rows };
  // A line for each measurement keeps differences between two runs readable.
  const text = JSON.stringify(report, round, 1);
  return `${text.replace(/\{[^{}]*"repetition"[^{}]*\{[^{}]*\}[^{}]*\}/g, (one) => one.replace(/\s*\n\s*/g, ' '))}\n`;
}

export async function writeReport(folder: string, report: Report): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'README.md'), markdownReport(report));
  await writeFile(join(folder, 'results.json'), jsonReport(report));
  for (const row of report.results.rows) {
    if (row.entries.length > 1) await writeFile(join(folder, chartName(row)), drawChart(row));
  }
}
