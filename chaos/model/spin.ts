/**
 * Runs spin on the model: makes a verifier, compiles it, lets it search, and replays what it found.
 *
 * spin is the one on PATH, or Debian's in `.cache`, which CI downloads and does not install. gcc must be there.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debianProgram } from '../../tests/harness/debian-package.ts';
import { type PanReport, readPanReport, readTrail } from './pan-report.ts';

const MODEL = join(import.meta.dirname, 'lock.pml');
const CACHE = join(import.meta.dirname, '../../.cache/spin');
const WITHIN_MS = 900_000;

/**
 * `all`: visits every state, depth first, and looks for runs in which time stands still.
 * `shortest`: breadth first, so that what it finds is as short as it can be.
 * `cycle`: depth first, not deep, for a short run in which time stands still.
 */
export type Way = 'all' | 'shortest' | 'cycle';

const COMPILED_FOR: Readonly<Record<Way, readonly string[]>> = {
  all: ['-O2', '-DNP'],
  shortest: ['-O1', '-DSAFETY', '-DBFS'],
  cycle: ['-O1', '-DNP'],
};

const SEARCHED_WITH: Readonly<Record<Way, readonly string[]>> = {
  all: ['-l', '-m5000000'],
  shortest: [],
  cycle: ['-l', '-m100'],
};

export interface Search extends PanReport {
  readonly seconds: number;
  /** The steps that lead to the first error; empty without one. */
  readonly trail: readonly string[];
}

function runs(program: string, ...args: string[]): boolean {
  return spawnSync(program, args).status === 0;
}

/** Whether searches are possible here without a download; on CI the download counts as possible. */
export function isSpinAtHand(): boolean {
  const { CI = '' } = process.env;
  return CI !== '' || (runs('gcc', '--version') && (runs('spin', '-V') || existsSync(CACHE)));
}

/** @throws when spin or gcc is missing and cannot be provided */
export async function findSpin(): Promise<string> {
  if (!runs('gcc', '--version')) throw new Error('The model needs gcc on PATH: spin writes verifiers in C.');
  if (runs('spin', '-V')) return 'spin';
  if (!isSpinAtHand()) throw new Error('The model needs spin on PATH: it is downloaded on CI only.');
  return debianProgram({ release: 'bookworm', program: 'spin' }, CACHE);
}

async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const running = promisify(execFile)(program, args, { cwd, timeout: WITHIN_MS, maxBuffer: 1e8 });
  // A search takes whole minutes of a core, and what runs beside it goes by the clock.
  if (running.child.pid !== undefined) setPriority(running.child.pid, constants.priority.PRIORITY_LOW);
  const { stdout, stderr } = await running;
  return stdout + stderr;
}

/** Searches the model with these switches and bounds, in a folder that is gone afterwards. */
export async function search(spin: string, definitions: readonly string[], way: Way): Promise<Search> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-model-'));
  const defined = definitions.map((definition) => `-D${definition}`);
  try {
    await run(spin, ['-a', ...defined, MODEL], folder);
    const options = [...COMPILED_FOR[way], '-w', '-DNOREDUCE', '-DMEMLIM=3500'];
    await run('gcc', [...options, '-o', 'pan', 'pan.c'], folder);
    const startedAt = performance.now();
    const report = readPanReport(await run(join(folder, 'pan'), ['-n', '-E', ...SEARCHED_WITH[way]], folder));
    const seconds = (performance.now() - startedAt) / 1000;
    const trail =
      report.errors === 0
        ? []
        : readTrail(await run(spin, ['-t', '-k', 'lock.pml.trail', ...defined, MODEL], folder));
    return { ...report, seconds, trail };
  } finally {
    await rm(folder, { recursive: true });
  }
}
