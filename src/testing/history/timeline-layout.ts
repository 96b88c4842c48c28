/**
 * The layout of a drawing: the interval shown, the lanes, and the bars on their tracks.
 */
import type { Call, Digest } from './digest.ts';
import type { Violation } from './verdict.ts';
import type { Window, Windows } from './windows.ts';

export const LABELS_WIDTH = 170;
export const PLOT_WIDTH = 1_200;
export const TRACK_HEIGHT = 16;
const LANE_GAP = 8;
/** Names of faults, in three rows. */
export const FAULTS_TOP = 20;
export const AXIS_TOP = 62;
const LANES_TOP = 80;
/** A picture with more than these is unreadable. */
const MOST_LANES = 64;
const MOST_BARS = 1_500;
/** The margin before and after: this share of the time, and at least this much. */
const MARGIN_SHARE = 0.1;
const MARGIN_NS = 20e6;
/** A violation's holds are shown whole if they extend no further than this from it, or this many times its length. */
const REACH_NS = 1e9;
const REACH_LENGTHS = 5;

/** A hold on a lane; overlapping holds are on different tracks. */
export interface Bar {
  readonly window: Window;
  readonly track: number;
}

/** One worker of one process. */
export interface Lane {
  readonly proc: string;
  readonly worker: string;
  readonly bars: Bar[];
  readonly calls: Call[];
  tracks: number;
  topPx: number;
}

export class Layout {
  readonly fromNs: number;
  readonly toNs: number;
  readonly lanes: readonly Lane[];
  readonly heightPx: number;
  /** The number of holds and lanes that are not shown. */
  readonly leftOut: number;

  constructor(digest: Digest, windows: Windows, violations: readonly Violation[]) {
    [this.fromNs, this.toNs] = viewOf(digest, windows, violations[0]);
    const concerned = new Set(violations.flatMap(({ holds }) => holds));
    const lanes = new Map<string, Lane>();
    const laneOf = (proc: string, worker: string): Lane => {
      const name = `${proc} ${worker}`;
      const lane = lanes.get(name) ?? { proc, worker, bars: [], calls: [], tracks: 1, topPx: 0 };
      lanes.set(name, lane);
      return lane;
    };
    const shown = [...windows.byKey.values()]
      .flat()
      .filter(({ fromNs, toNs }) => this.#isShown(fromNs, toNs));
    // If there are too many, those of a violation come first.
    const first = shown.filter(({ hold }) => concerned.has(hold.id));
    const rest = shown.filter(({ hold }) => !concerned.has(hold.id));
    const bars = [...first, ...rest].slice(0, MOST_BARS).sort((a, b) => a.fromNs - b.fromNs);
    for (const window of bars) addBar(laneOf(window.hold.proc, window.hold.worker), window);
    const calls = digest.calls.filter((call) => this.#isShown(call.invoke.atNs, digest.endOf(call)));
    for (const call of calls.slice(0, MOST_BARS))
      laneOf(call.invoke.proc, call.invoke.worker).calls.push(call);
    const isConcerned = ({ bars: own }: Lane) => own.some(({ window }) => concerned.has(window.hold.id));
    const all = [...lanes.values()];
    const chosen = [...all.filter(isConcerned), ...all.filter((lane) => !isConcerned(lane))].slice(
      0,
      MOST_LANES,
    );
    this.lanes = chosen.sort((a, b) => compare(a.proc, b.proc) || compare(a.worker, b.worker));
    this.leftOut = shown.length - bars.length + all.length - chosen.length;
    this.heightPx = this.#place();
  }

  /** The position of a moment. */
  x(ns: number): number {
    const share = (ns - this.fromNs) / (this.toNs - this.fromNs);
    return LABELS_WIDTH + Math.min(1, Math.max(0, share)) * PLOT_WIDTH;
  }

  /** The vertical extent of the lanes of one process, or of one of its workers. */
  extent(isMeant: (lane: Lane) => boolean): { topPx: number; heightPx: number } | undefined {
    const lanes = this.lanes.filter(isMeant);
    const [first, last] = [lanes[0], lanes.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    return { topPx: first.topPx, heightPx: last.topPx + heightOf(last) - first.topPx };
  }

  /** About ten moments to label on the axis. */
  ticks(startNs: number): number[] {
    const wantedMs = (this.toNs - this.fromNs) / 1e6 / 10;
    const power = 10 ** Math.floor(Math.log10(wantedMs));
    const stepNs = 1e6 * power * ([1, 2, 5, 10].find((factor) => factor * power >= wantedMs) ?? 10);
    const ticks: number[] = [];
    const firstNs = startNs + Math.ceil((this.fromNs - startNs) / stepNs) * stepNs;
    for (let ns = firstNs; ns <= this.toNs; ns += stepNs) ticks.push(ns);
    return ticks;
  }

  #isShown(fromNs: number, toNs: number): boolean {
    return fromNs <= this.toNs && toNs >= this.fromNs;
  }

  #place(): number {
    let topPx = LANES_TOP;
    for (const lane of this.lanes) {
      lane.topPx = topPx;
      topPx += heightOf(lane) + LANE_GAP;
    }
    return topPx + LANE_GAP;
  }
}

export function heightOf({ tracks }: Lane): number {
  return tracks * TRACK_HEIGHT + 6;
}

function viewOf(digest: Digest, windows: Windows, violation: Violation | undefined): [number, number] {
  const [startNs, endNs] = [digest.startNs, Math.max(digest.endNs, digest.startNs + 1e6)];
  if (violation === undefined) return [startNs, endNs];
  const [foundNs, overNs] = [violation.fromNs, Math.min(violation.toNs, endNs)];
  const reachNs = Math.max(REACH_NS, REACH_LENGTHS * (overNs - foundNs));
  const holds = (windows.byKey.get(violation.key) ?? []).filter(({ hold }) =>
    violation.holds.includes(hold.id),
  );
  const fromNs = Math.max(foundNs - reachNs, Math.min(foundNs, ...holds.map((window) => window.fromNs)));
  const toNs = Math.min(overNs + reachNs, Math.max(overNs, ...holds.map((window) => window.toNs)));
  const marginNs = Math.max(MARGIN_NS, (toNs - fromNs) * MARGIN_SHARE);
  return [Math.max(startNs, fromNs - marginNs), Math.min(endNs, toNs + marginNs)];
}

function addBar(lane: Lane, window: Window): void {
  const taken = new Set(lane.bars.filter((bar) => bar.window.toNs > window.fromNs).map(({ track }) => track));
  let track = 0;
  while (taken.has(track)) track += 1;
  lane.bars.push({ window, track });
  lane.tracks = Math.max(lane.tracks, track + 1);
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
