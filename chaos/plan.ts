/**
 * What a run does, from its seed alone: which stages are set up on which server, which storms they see, and when
 * which fault strikes. Timing on the machine differs from run to run; the plan does not.
 */

import { Random } from '../src/testing/history/random.ts';
import type { ViolationKind } from '../src/testing/index.ts';
import type { AnyStageName, Fault } from './fault.ts';
import { MODES, type ModeName } from './modes.ts';
import { LOCK_VISITS, SHARED_VISITS, type VisitName } from './workers/visits/index.ts';

export const SERVERS = ['redis-7', 'valkey-8'] as const;
export type ServerName = (typeof SERVERS)[number];

/** One fault at one time of a storm. */
export interface Strike {
  readonly fault: Fault;
  readonly atMs: number;
  readonly lastsMs: number;
}

/** One storm with its faults. */
export interface Cell {
  /** `redis-7/one/guarded/holder-killed`, or `…/mix`. */
  readonly name: string;
  readonly seed: string;
  readonly visits: readonly VisitName[];
  /** By the time they begin. */
  readonly strikes: readonly Strike[];
  readonly lastsMs: number;
}

/** Storms that share their servers and worker processes. */
export interface Round {
  readonly server: ServerName;
  readonly stage: AnyStageName;
  readonly mode: ModeName;
  readonly cells: readonly Cell[];
}

export interface PlanOptions {
  readonly seed: string;
  readonly faults: readonly Fault[];
  readonly stages: readonly AnyStageName[];
  /** How long a storm with one kind of fault lasts; 0 leaves these storms out. */
  readonly singleMs: number;
  /** How long a storm with a mix of faults lasts; 0 leaves these storms out. */
  readonly mixMs: number;
  /** Of the two mixes of a round, one: the seed decides which. */
  readonly isOneMixEnough?: boolean;
  /** Only cells whose names contain this. */
  readonly only?: string;
}

/** Calm before the first fault, and after the last one. */
const CALM_MS = 400;
const GAP_MS: readonly [number, number] = [150, 700];

/** Faults that strike worker processes go beside those that strike servers and links. */
const OF_PROCESSES = new Set([1, 2, 3, 4, 5, 6]);

export function planRun(options: PlanOptions): Round[] {
  const rounds = SERVERS.flatMap((server) =>
    options.stages.flatMap((stage) =>
      (Object.keys(MODES) as ModeName[]).map((mode) => planRound(options, server, stage, mode)),
    ),
  );
  return rounds.filter(({ cells }) => cells.length > 0);
}

function planRound(options: PlanOptions, server: ServerName, stage: AnyStageName, mode: ModeName): Round {
  const place = `${server}/${stage}/${mode}`;
  const here = options.faults.filter((fault) => fault.stages.includes(stage) && isShownIn(fault, mode));
  const cells = [...singles(options, here, place), ...mixes(options, here, place, mode)];
  return { server, stage, mode, cells: cells.filter(({ name }) => name.includes(options.only ?? '')) };
}

/** Without the guard, only what it breaks is shown: everything else is the same with it. */
function isShownIn(fault: Fault, mode: ModeName): boolean {
  return mode === 'guarded' || (breaks(fault, mode, 'overlap') && !breaks(fault, 'guarded', 'overlap'));
}

function breaks(fault: Fault, mode: ModeName, promise: ViolationKind): boolean {
  return fault.exempts?.(MODES[mode])?.violations.includes(promise) ?? false;
}

/** Semaphores, latches and rates do not survive a server that forgets; the guard is for locks. */
function losesCounts(fault: Fault): boolean {
  return breaks(fault, 'guarded', 'not-conserved');
}

/** Each fault by itself: the seed decides where, unless cells are asked for by their names. */
function singles(options: PlanOptions, here: readonly Fault[], place: string): Cell[] {
  if (options.singleMs === 0) return [];
  const isHere = (fault: Fault) => {
    const stages = options.stages.filter((stage) => fault.stages.includes(stage));
    const places = SERVERS.flatMap((server) => stages.map((stage) => `${server}/${stage}/`));
    return place.startsWith(new Random(`${options.seed}/${fault.name}`).pick(places));
  };
  return here
    .filter((fault) => options.only !== undefined || isHere(fault))
    .map((fault) => {
      const name = `${place}/${fault.name}`;
      const seed = `${options.seed}/${name}`;
      const strikes = lane([fault], new Random(seed), options.singleMs);
      return {
        name,
        seed,
        visits: visitsFor(place, [fault]),
        strikes,
        lastsMs: endOf(strikes, options.singleMs),
      };
    });
}

/** All faults that leave the data alone; and, for locks only, all of them. */
function mixes(options: PlanOptions, here: readonly Fault[], place: string, mode: ModeName): Cell[] {
  if (options.mixMs === 0 || mode !== 'guarded') return [];
  const promised = here.filter((fault) => !breaks(fault, mode, 'overlap'));
  const kept = promised.filter((fault) => !losesCounts(fault));
  const kinds: [string, readonly Fault[]][] = [['mix', kept]];
  if (kept.length < promised.length) kinds.push(['mix-of-losses', promised]);
  const asked =
    options.isOneMixEnough === true ? [new Random(`${options.seed}/${place}`).pick(kinds)] : kinds;
  return asked.map(([kind, faults]) => {
    const name = `${place}/${kind}`;
    const seed = `${options.seed}/${name}`;
    const random = new Random(seed);
    const isOfProcess = ({ rows }: Fault) => rows.some((row) => OF_PROCESSES.has(row));
    const strikes = [
      ...lane(faults.filter(isOfProcess), random.fork('processes'), options.mixMs),
      ...lane(
        faults.filter((fault) => !isOfProcess(fault)),
        random.fork('servers'),
        options.mixMs,
      ),
    ].sort((a, b) => a.atMs - b.atMs);
    return { name, seed, visits: visitsFor(place, faults), strikes, lastsMs: endOf(strikes, options.mixMs) };
  });
}

/** One fault after the other, until the time is over. The first one comes in any case. */
function lane(faults: readonly Fault[], random: Random, lastsMs: number): Strike[] {
  const strikes: Strike[] = [];
  let atMs = CALM_MS;
  let left: Fault[] = [];
  while (faults.length > 0) {
    // Each has its turn before any has a second one.
    if (left.length === 0) left = random.shuffle(faults);
    const fault = left.shift() as Fault;
    const strike = { fault, atMs, lastsMs: random.between(...fault.lastsMs) };
    if (strikes.length > 0 && atMs + strike.lastsMs > lastsMs) break;
    strikes.push(strike);
    atMs += strike.lastsMs + random.between(...GAP_MS);
  }
  return strikes;
}

function endOf(strikes: readonly Strike[], leastMs: number): number {
  const ends = strikes.map(({ atMs, lastsMs }) => atMs + lastsMs);
  return Math.max(leastMs, ...ends) + CALM_MS;
}

function visitsFor(place: string, faults: readonly Fault[]): readonly VisitName[] {
  if (place.includes('/masters/')) return ['red'];
  return faults.some(losesCounts) ? LOCK_VISITS : SHARED_VISITS;
}
