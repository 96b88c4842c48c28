/**
 * The bench: measures every contestant in every workload, repetition by repetition, so that whatever else happens meets
 * all of them alike. Ratios within one run are what counts; figures of two machines cannot be compared.
 *
 * Compiled before it runs: a loader that rewrites functions would be measured along.
 */
import { CONTESTANTS } from './contestants/index.ts';
import { Probe } from './machine/probe.ts';
import { HELP, type Options, readOptions } from './options.ts';
import type { Pace } from './pace.ts';
import { installPackages } from './players/install.ts';
import { whyMissing } from './players/start.ts';
import { Progress } from './progress.ts';
import { Referee } from './referee.ts';
import { describeMachine } from './report/machine.ts';
import { writeReport } from './report/report.ts';
import { terminalReport } from './report/terminal.ts';
import type { Missing, Results, Row } from './results.ts';
import type { Workload } from './workloads/workload.ts';

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function findMissing(workloads: readonly Workload[]): Promise<Missing[]> {
  const missing: Missing[] = [];
  for (const contestant of new Set(workloads.flatMap(({ contestants }) => contestants))) {
    const why = await whyMissing(contestant);
    if (why === undefined) continue;
    missing.push({ contestant, why });
    say(`${contestant.title} is missing: ${why}`);
  }
  return missing;
}

async function measureAll(rows: readonly Row[], pace: Pace): Promise<void> {
  const probe = pace.again > 0 ? await Probe.start() : undefined;
  const referee = new Referee(probe, pace);
  const progress = new Progress(
    rows.reduce((total, { entries }) => total + entries.length, 0) * pace.repetitions,
  );
  for (let repetition = 1; repetition <= pace.repetitions; repetition += 1) {
    for (const { workload, entries } of rows) {
      for (const entry of entries) {
        try {
          const measurement = await referee.measure(workload, entry.contestant, repetition);
          entry.measurements.push(measurement);
          progress.measured(workload, entry.contestant, measurement);
        } catch (error) {
          const { message } = error as Error;
          entry.failures.push(message);
          progress.failed(workload, entry.contestant, message);
        }
      }
    }
  }
  await probe?.close();
}

async function bench({ workloads, pace, out }: Options): Promise<void> {
  const machine = await describeMachine();
  await installPackages(say);
  const missing = await findMissing(workloads);
  const absent = new Set(missing.map(({ contestant }) => contestant));
  const rows: Row[] = workloads.map((workload) => ({
    workload,
    entries: workload.contestants
      .filter((contestant) => !absent.has(contestant))
      .map((contestant) => ({ contestant, measurements: [], failures: [] })),
  }));
  await measureAll(rows, pace);
  const results: Results = { rows, missing };
  say(terminalReport(results, pace));
  if (out !== undefined) await writeReport(out, { results, machine, pace });
}

function list(workloads: readonly Workload[]): void {
  for (const { id, title } of workloads) say(`${id.padEnd(12)}${title}`);
  say('');
  for (const { title, note } of CONTESTANTS) say(`${title.padEnd(26)}${note}`);
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options.wantsHelp) say(HELP);
  else if (options.wantsList) list(options.workloads);
  else await bench(options);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
