/**
 * What happened, and whether it was allowed to.
 *
 * Processes record what they do with a mutex, each event written before the next step. Afterwards a sweep
 * over the windows in which somebody believed to hold it finds every overlap; no search is needed, since a
 * window ends at the first thing by which its holder stopped believing.
 */
import { appendFileSync, readFileSync } from 'node:fs';

export interface HistoryEvent {
  readonly proc: string;
  readonly worker: number;
  readonly key: string;
  readonly op: 'acquire' | 'unlock' | 'lost' | 'died';
  /** An `acquire` that is not `ok` took nothing. An `unlock` ends the hold when invoked, however it ends. */
  readonly type: 'invoke' | 'ok' | 'fail' | 'info';
  /** By the monotonic clock, which the processes of one machine share. */
  readonly atNs: number;
  /** The owner; on everything from the grant on. */
  readonly hold?: string | undefined;
  /** Until when the holder may rely on it, if it is not renewed. */
  readonly deadlineNs?: number | undefined;
  /** No sooner does the server let anyone else in, as far as it was asked. */
  readonly expiresNs?: number | undefined;
}

export type Recorded = Omit<HistoryEvent, 'proc' | 'atNs'>;
export type Record = (event: Recorded) => void;

export function nowNs(): number {
  return Number(process.hrtime.bigint());
}

/** Records into a list. */
export function recorder(events: HistoryEvent[], proc = 'test'): Record {
  return (event) => void events.push({ proc, atNs: nowNs(), ...event });
}

/** Records into a file, written when the call returns. */
export function fileRecorder(path: string, proc: string): Record {
  return (event) => appendFileSync(path, `${JSON.stringify({ proc, atNs: nowNs(), ...event })}\n`);
}

export function readHistory(path: string): HistoryEvent[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as HistoryEvent);
}

/** The time in which a holder believed to hold. */
export interface Window {
  readonly key: string;
  readonly hold: string;
  readonly fromNs: number;
  readonly toNs: number;
}

export type Violation =
  /** Two believed to hold the same at the same time. */
  | { readonly kind: 'overlap'; readonly first: Window; readonly second: Window }
  /** One owner was granted twice. */
  | { readonly kind: 'owner reused'; readonly hold: string }
  /** The holder was told when somebody else could be in already. */
  | { readonly kind: 'late loss'; readonly hold: string; readonly lateNs: number }
  /** Released for good although it had been lost before. */
  | { readonly kind: 'unlocked after loss'; readonly hold: string }
  /** Neither unlocked nor lost nor dead at the end. */
  | { readonly kind: 'leak'; readonly hold: string }
  /** A call that never settled. */
  | { readonly kind: 'hung'; readonly proc: string; readonly worker: number; readonly op: string };

interface Life {
  readonly granted: HistoryEvent;
  unlockInvoked?: HistoryEvent;
  unlocked?: HistoryEvent;
  lost?: HistoryEvent;
}

function livesOf(events: readonly HistoryEvent[], violations: Violation[]): Life[] {
  const lives = new Map<string, Life>();
  for (const event of events) {
    const { op, type, hold } = event;
    if (hold === undefined) continue;
    const life = lives.get(hold);
    if (op === 'acquire' && type === 'ok') {
      if (life !== undefined) violations.push({ kind: 'owner reused', hold });
      else lives.set(hold, { granted: event });
    } else if (life !== undefined) {
      if (op === 'lost') life.lost ??= event;
      if (op === 'unlock' && type === 'invoke') life.unlockInvoked ??= event;
      if (op === 'unlock' && type === 'ok') life.unlocked ??= event;
    }
  }
  return [...lives.values()];
}

function deathsOf(events: readonly HistoryEvent[]): Map<string, number> {
  return new Map(events.filter(({ op }) => op === 'died').map(({ proc, atNs }) => [proc, atNs]));
}

function windowOf(life: Life, deaths: ReadonlyMap<string, number>): Window {
  const { key, hold, atNs, deadlineNs, proc } = life.granted;
  const ends = [life.unlockInvoked?.atNs, life.lost?.atNs, deadlineNs, deaths.get(proc)];
  const toNs = Math.min(...ends.filter((end) => end !== undefined));
  return { key, hold: hold as string, fromNs: atNs, toNs };
}

function findOverlaps(windows: readonly Window[]): Violation[] {
  const found: Violation[] = [];
  const latest = new Map<string, Window>();
  for (const second of windows
    .filter(({ fromNs, toNs }) => fromNs < toNs)
    .sort((a, b) => a.fromNs - b.fromNs)) {
    const first = latest.get(second.key);
    if (first !== undefined && second.fromNs < first.toNs) found.push({ kind: 'overlap', first, second });
    if (first === undefined || second.toNs > first.toNs) latest.set(second.key, second);
  }
  return found;
}

function findHung(events: readonly HistoryEvent[], deaths: ReadonlyMap<string, number>): Violation[] {
  const open = new Map<string, HistoryEvent>();
  for (const event of events) {
    if (event.op !== 'acquire' && event.op !== 'unlock') continue;
    const call = `${event.proc} ${event.worker} ${event.op} ${event.op === 'unlock' ? event.hold : ''}`;
    if (event.type === 'invoke') open.set(call, event);
    else open.delete(call);
  }
  return [...open.values()]
    .filter(({ proc }) => !deaths.has(proc))
    .map(({ proc, worker, op }) => ({ kind: 'hung', proc, worker, op }));
}

/** Everything in a finished history that was not allowed; empty when all was well. */
export function check(history: readonly HistoryEvent[]): Violation[] {
  const events = [...history].sort((a, b) => a.atNs - b.atNs);
  const violations: Violation[] = [];
  const deaths = deathsOf(events);
  const lives = livesOf(events, violations);
  for (const { granted, unlockInvoked, unlocked, lost } of lives) {
    const hold = granted.hold as string;
    const { expiresNs } = granted;
    if (lost !== undefined && expiresNs !== undefined && lost.atNs > expiresNs) {
      violations.push({ kind: 'late loss', hold, lateNs: lost.atNs - expiresNs });
    }
    if (lost !== undefined && unlockInvoked !== undefined && unlocked !== undefined) {
      if (lost.atNs < unlockInvoked.atNs) violations.push({ kind: 'unlocked after loss', hold });
    }
    const isOver = unlockInvoked !== undefined || lost !== undefined || deaths.has(granted.proc);
    if (!isOver) violations.push({ kind: 'leak', hold });
  }
  violations.push(...findOverlaps(lives.map((life) => windowOf(life, deaths))));
  violations.push(...findHung(events, deaths));
  return violations;
}
