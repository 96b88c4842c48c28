/**
 * `npm run chaos`: storms of calls and faults on real servers, judged by the checker of `holdfast/testing`; then the
 * mutants, which the checker must find, and the model of the protocol.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describeViolation, drawTimeline } from '../src/testing/index.ts';
import type { Fault, StageName } from './fault.ts';
import { FAULTS } from './faults/index.ts';
import { NETWORK_FAULTS } from './faults/network.ts';
import { PROCESS_FAULTS } from './faults/processes.ts';
import { REQUEST_FAULTS } from './faults/requests.ts';
import { checkModel } from './model/run.ts';
import { isSpinAtHand } from './model/spin.ts';
import { clientOptions, MODES } from './modes.ts';
import { isAsExpected, runMutants } from './mutants/run.ts';
import { parseOptions, type RunOptions } from './options.ts';
import { type Cell, type PlanOptions, planRun, type Round, SERVERS, type ServerName } from './plan.ts';
import { Progress } from './progress.ts';
import { toHtml } from './report/html.ts';
import { toMarkdown } from './report/markdown.ts';
import { type CellSummary, makeReport, operationsOf, type Table } from './report/report.ts';
import { findServers } from './servers.ts';
import { startGiven } from './stages/given.ts';
import { startStage } from './stages/index.ts';
import { runCell, type StormResult } from './storm.ts';
import { type Counter, Witness, type WitnessFigures } from './witness/service.ts';
import { Crew } from './workers/crew.ts';

const STAGES: readonly StageName[] = ['one', 'replicas', 'sentinel', 'cluster', 'masters'];

/** How long the storms of a run last. */
const FULL = { singleMs: 4_200, mixMs: 7_000 };
const QUICK = { singleMs: 0, mixMs: 5_000, isOneMixEnough: true };
const SOAK = { singleMs: 0, mixMs: 20_000 };
const REPLAY = { singleMs: 4_000, mixMs: 10_000 };

/** What leaves a server of the user's as it is. */
const HARMLESS: readonly Fault[] = [...PROCESS_FAULTS, ...NETWORK_FAULTS, ...REQUEST_FAULTS]
  .filter(({ name }) => name !== 'connections-killed')
  .map((fault) => ({ ...fault, stages: ['given'] }));

function lengths({
  quick,
  soakMs,
  cell,
}: RunOptions): Pick<PlanOptions, 'singleMs' | 'mixMs' | 'isOneMixEnough'> {
  if (cell !== undefined) return REPLAY;
  if (soakMs > 0) return SOAK;
  return quick ? QUICK : FULL;
}

class Run {
  readonly #options: RunOptions;
  readonly #progress: Progress;
  readonly #faults: readonly Fault[];
  readonly #scratch = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'));
  readonly #startedAt = new Date();
  readonly #began = performance.now();
  readonly #cells: CellSummary[] = [];
  readonly #broken: string[] = [];
  #servers = new Map<ServerName, string>();
  #crew: Crew | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#faults = options.url === undefined ? FAULTS : HARMLESS;
    this.#progress = new Progress(this.plan().flatMap(({ cells }) => cells).length);
    mkdirSync(options.out, { recursive: true });
  }

  /** What there is to do, in order. */
  plan(seed = this.#options.seed): Round[] {
    const { cell, url } = this.#options;
    const rounds = planRun({
      seed,
      faults: this.#faults,
      stages: url === undefined ? STAGES : ['given'],
      ...lengths(this.#options),
      ...(cell !== undefined && { only: cell }),
    });
    // A server of the user's is one, whatever it is.
    return url === undefined ? rounds : rounds.filter(({ server }) => server === 'redis-7');
  }

  async storms(): Promise<void> {
    const { seed, soakMs, processes, workers, url } = this.#options;
    this.#progress.say(`Seed ${seed}: ${processes} processes with ${workers} workers each.`);
    if (url === undefined) this.#servers = await findServers((text) => this.#progress.say(text));
    const witness = await Witness.listen(this.#witnessPath);
    for (let lap = 0, isOver = false; !isOver; lap += 1) {
      for (const round of this.plan(lap === 0 ? seed : `${seed}-${lap}`)) await this.#round(round);
      isOver = performance.now() - this.#began >= soakMs;
    }
    await this.#dismiss();
    for (const counter of ['memory', 'sql'] as const) {
      const { lost } = witness.figures(counter);
      if (lost > 0) this.#broken.push(`${lost} fenced updates were lost (${counter})`);
    }
    this.#figures = {
      plain: witness.figures('plain'),
      memory: witness.figures('memory'),
      sql: witness.figures('sql'),
    };
    await witness.close();
  }

  #figures: Record<Counter, WitnessFigures> | undefined;

  get #witnessPath(): string {
    return join(this.#scratch, 'witness');
  }

  async #round(round: Round): Promise<void> {
    const { url, touch } = this.#options;
    const binary = this.#servers.get(round.server);
    if (binary === undefined && url === undefined) return;
    const mode = MODES[round.mode];
    await using stage =
      round.stage === 'given'
        ? await startGiven(url as string, touch)
        : await startStage(round.stage, binary);
    this.#crew ??= this.#hire();
    const crew = this.#crew;
    const before = this.#broken.length;
    try {
      await crew.join({ target: stage.target, options: clientOptions(mode, stage.name) });
      for (const cell of round.cells) {
        const historyFile = join(this.#scratch, `${this.#cells.length}.jsonl`);
        writeFileSync(historyFile, '');
        const result = await runCell(cell, {
          stage,
          crew,
          mode,
          historyFile,
          onProgress: (storm) => this.#progress.during(cell, storm),
        });
        this.#keep(round, cell, result);
        rmSync(historyFile);
      }
      await crew.leave();
    } catch (error) {
      const where = `${round.server}/${round.stage}/${round.mode}`;
      this.#broken.push(`${where}: ${error instanceof Error ? error.stack : String(error)}`);
      await this.#dismiss();
    }
    this.#broken.push(...crew.broken.splice(0));
    for (const text of this.#broken.slice(before)) this.#progress.say(text);
  }

  #hire(): Crew {
    const { processes, workers } = this.#options;
    return new Crew({ processes, workers, witness: this.#witnessPath });
  }

  async #dismiss(): Promise<void> {
    await this.#crew?.close();
    this.#crew = undefined;
  }

  /** Remembers a storm. One that broke a promise is printed and drawn, and its history is kept. */
  #keep(round: Round, cell: Cell, { events, ...result }: StormResult): void {
    this.#progress.after({ ...result, events });
    const [violation] = result.broken;
    const file = join(this.#options.out, cell.name.replaceAll('/', '-'));
    if (violation !== undefined || this.#options.keep) {
      writeFileSync(`${file}.jsonl`, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    }
    if (violation === undefined) {
      this.#cells.push({ ...result, mode: round.mode });
      return;
    }
    this.#progress.say(describeViolation(events, violation));
    writeFileSync(`${file}.html`, drawTimeline(events, { title: cell.name, violations: result.broken }));
    this.#cells.push({ ...result, mode: round.mode, timeline: basename(`${file}.html`) });
  }

  /** Every mutant has to be caught, and only for what is wrong with it. */
  async mutants(): Promise<Table> {
    this.#progress.say('Mutants: clients with a deliberate fault.');
    const binary = [...this.#servers.values()][0];
    const outcomes = await runMutants(binary === undefined ? {} : { binary });
    for (const outcome of outcomes.filter((one) => !isAsExpected(one))) {
      this.#broken.push(
        `The mutant ${outcome.mutant.name} was not caught, or its scenario fails without the fault`,
      );
    }
    this.#progress.say(`${outcomes.filter(isAsExpected).length} of ${outcomes.length} caught.`);
    return {
      columns: ['mutant', 'fault', 'found as', 'caught', 'passes without the fault'],
      rows: outcomes.map(({ mutant, caught, innocent }) => [
        mutant.name,
        mutant.wrong,
        mutant.breaks,
        caught ? 'yes' : 'NO',
        innocent ? 'yes' : 'NO',
      ]),
    };
  }

  /** The protocol keeps its promises in every order of events, and each known mistake breaks one. */
  async model(): Promise<Table> {
    if (!isSpinAtHand()) {
      const why = 'it needs gcc, and spin on PATH, which is downloaded on CI only';
      this.#progress.say(`The model is left out: ${why}.`);
      return { columns: ['left out', 'why'], rows: [['the model', why]] };
    }
    // The large configurations take minutes: `npx tsx chaos/model/run.ts` searches them.
    const scale = this.#options.soakMs > 0 ? 'full' : 'quick';
    const outcomes = await checkModel({ scale, say: () => {} });
    for (const { name, result } of outcomes.filter(({ isExpected }) => !isExpected)) {
      this.#broken.push(`The model: ${name}: ${result}`);
    }
    const states = outcomes.reduce((sum, outcome) => sum + outcome.states, 0);
    this.#progress.say(
      `Model: the protocol in every order of events: ${outcomes.length} searches, ${states.toLocaleString('en')} states.`,
    );
    return {
      columns: ['', 'what', 'states', 'result', 'as expected'],
      rows: outcomes.map(({ kind, name, states: visited, result, isExpected }) => [
        kind,
        name,
        visited.toLocaleString('en'),
        result,
        isExpected ? 'yes' : 'NO',
      ]),
    };
  }

  /** A server of the user's has no name here. */
  get #serverNames(): string[] {
    if (this.#options.url !== undefined) return [];
    return SERVERS.map((name) => (this.#servers.has(name) ? name : `${name} (left out)`));
  }

  /** Writes the report; answers how many promises were broken. */
  report(mutants: Table | undefined, model: Table | undefined): number {
    const { out, seed } = this.#options;
    const report = makeReport({
      seed,
      command: `npm run chaos -- ${process.argv.slice(2).join(' ')}`.trim(),
      startedAt: this.#startedAt,
      tookMs: performance.now() - this.#began,
      servers: this.#serverNames,
      cells: this.#cells,
      faults: this.#faults,
      witness: this.#figures as Record<Counter, WitnessFigures>,
      broken: this.#broken,
      mutants,
      model,
    });
    writeFileSync(join(out, 'report.md'), toMarkdown(report));
    writeFileSync(join(out, 'report.html'), toHtml(report));
    rmSync(this.#scratch, { recursive: true, force: true });
    const violations = this.#cells.reduce((sum, cell) => sum + cell.broken.length, this.#broken.length);
    const operations = operationsOf(this.#cells).toLocaleString('en');
    this.#progress.say(
      `${operations} operations checked, ${violations} violations. Report: ${join(out, 'report.html')}`,
    );
    return violations;
  }
}

const options = parseOptions(process.argv.slice(2));
const run = new Run(options);
const names = run.plan().flatMap(({ cells }) => cells.map(({ name }) => name));
if (names.length === 0) {
  console.error(`No storm has a name that contains ${options.cell}; --list lists all names`);
  process.exit(2);
}
if (options.list) {
  for (const name of names) console.log(name);
  process.exit(0);
}
const isWhole = options.cell === undefined && options.url === undefined;
// The searches take what the storms leave of the cores: they run at a low priority.
const searching = isWhole ? run.model() : undefined;
// What keeps it from searching is told when the storms are over.
searching?.catch(() => undefined);
await run.storms();
const mutants = isWhole ? await run.mutants() : undefined;
process.exit(run.report(mutants, await searching) === 0 ? 0 : 1);
