/**
 * One cell: workers at work, faults as planned, everything healed, and the history judged.
 */
import { openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Holdfast } from '../src/index.ts';
import { checkHistory } from '../src/testing/history/check.ts';
import type { HistoryEvent } from '../src/testing/history/event.ts';
import { Random } from '../src/testing/history/random.ts';
import { Recorder, readHistory } from '../src/testing/history/recorder.ts';
import type { CheckBounds, Verdict, Violation } from '../src/testing/history/verdict.ts';
import type { Mode, Scene, Stage } from './fault.ts';
import { fairNames, passBy, provide, recordLeaks, recordPermits, sweep } from './leftovers.ts';
import { clientOptions, graceMs } from './modes.ts';
import type { Cell, Strike } from './plan.ts';
import { watchQueues } from './queue-watch.ts';
import { connectTo } from './workers/connect.ts';
import type { Crew } from './workers/crew.ts';

export interface StormContext {
  readonly stage: Stage;
  readonly crew: Crew;
  readonly mode: Mode;
  readonly historyFile: string;
  /** Told now and then while the storm lasts. */
  onProgress(progress: StormProgress): void;
}

export interface StormProgress {
  readonly operations: number;
  readonly faults: number;
}

export interface StormResult {
  readonly cell: Cell;
  readonly verdict: Verdict;
  /** Violations of a promise. */
  readonly broken: readonly Violation[];
  /** Violations that a fault of the cell cannot but cause in this mode. */
  readonly exempt: readonly Violation[];
  readonly faults: readonly string[];
  readonly events: readonly HistoryEvent[];
  readonly tookMs: number;
}

const LOOK_MS = 500;
/** Short stretches of single keys in which an order of all calls is searched. */
const SAMPLES = 30;

export async function runCell(cell: Cell, context: StormContext): Promise<StormResult> {
  const { stage, crew, mode, historyFile } = context;
  const startedAt = performance.now();
  const prefix = `chaos-${new Random(cell.seed).integer(0, 2 ** 31).toString(36)}`;
  const recorder = Recorder.toFile(historyFile, 'nemesis');
  const isShared = !cell.visits.includes('red');
  const runner = await connectTo(stage.target, 'connect', clientOptions(mode, stage.name));
  const [client] = runner.clients as [Holdfast];
  const hasCounters = cell.visits.includes('semaphore');
  if (hasCounters) await provide(client, recorder, prefix);
  // The fault before this storm, or the start of the servers, may have left a grace in which nothing is granted.
  const before = { worker: '', key: '', op: 'fault', what: 'what came before' } as const;
  for (const type of ['invoke', 'ok'] as const) recorder.record({ ...before, type });
  const { seed, visits } = cell;
  await crew.storm({ order: 'storm', seed, prefix, historyFile, visits }, recorder);

  const over = new AbortController();
  const watchingQueues = watchQueues(stage, fairNames(prefix), recorder, over.signal);
  const struck: string[] = [];
  const watching = watchProgress(historyFile, (operations) =>
    context.onProgress({ operations, faults: struck.length }),
  );
  const scene: Scene = {
    stage,
    get victims() {
      return crew.victims;
    },
    mode,
    random: new Random(`${cell.seed}/scene`),
  };
  const stormedAt = performance.now();
  await Promise.all(cell.strikes.map((strike) => strikeOnce(strike, scene, recorder, stormedAt, struck)));
  await sleepUntil(stormedAt + cell.lastsMs);
  await stage.heal();
  await crew.calm();
  clearInterval(watching);
  over.abort();
  await watchingQueues;
  if (hasCounters) await recordPermits(client, recorder, prefix);
  if (isShared) await passBy(client, prefix);
  await recordLeaks(stage, recorder, prefix, 2 * mode.watchdogMs + (mode.guard ? graceMs(stage.name) : 0));
  await runner.close();
  if (isShared) await sweep(stage, prefix);
  recorder.close();

  const events = readHistory(historyFile);
  const verdict = checkHistory(events, boundsFor(mode, stage));
  const exemptKinds = new Set(
    cell.strikes.flatMap(({ fault }) => fault.exempts?.(mode)?.violations ?? []) as string[],
  );
  return {
    cell,
    verdict,
    broken: verdict.violations.filter(({ kind }) => !exemptKinds.has(kind)),
    exempt: verdict.violations.filter(({ kind }) => exemptKinds.has(kind)),
    faults: struck,
    events,
    tookMs: performance.now() - startedAt,
  };
}

/** What a fault leaves behind lasts a grace, where there is a guard. */
function boundsFor(mode: Mode, stage: Stage): Partial<CheckBounds> {
  const settleMs = mode.guard ? graceMs(stage.name) + 1_000 : 3_000;
  return { samples: SAMPLES, settleMs };
}

/** From its time on, for as long as planned. */
async function strikeOnce(
  { fault, atMs, lastsMs }: Strike,
  scene: Scene,
  recorder: Recorder,
  stormedAt: number,
  struck: string[],
): Promise<void> {
  await sleepUntil(stormedAt + atMs);
  const about = {
    worker: '',
    key: '',
    op: 'fault',
    what: fault.name,
    ...(fault.removesHolds === true && { removesHolds: true }),
  } as const;
  recorder.record({ ...about, type: 'invoke' });
  struck.push(fault.name);
  try {
    await fault.start(scene);
    await sleep(lastsMs);
  } finally {
    await fault.stop(scene);
    recorder.record({ ...about, type: 'ok' });
  }
}

async function sleepUntil(at: number): Promise<void> {
  const ms = at - performance.now();
  if (ms > 0) await sleep(ms);
}

/** Counts the calls in a file that still grows. */
function watchProgress(path: string, tell: (operations: number) => void): NodeJS.Timeout {
  const file = openSync(path, 'r');
  const chunk = Buffer.alloc(1 << 20);
  let operations = 0;
  return setInterval(() => {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      operations += chunk.toString('latin1', 0, read).split('"type":"invoke"').length - 1;
    }
    tell(operations);
  }, LOOK_MS);
}
