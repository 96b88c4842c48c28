/** Histories written by hand, in milliseconds. */
import { checkHistory } from '../../../../../src/testing/history/check.ts';
import type { HistoryEvent, RecordedCall } from '../../../../../src/testing/history/event.ts';
import type { CheckBounds, Violation, ViolationKind } from '../../../../../src/testing/history/verdict.ts';

/** What a hand-written event leaves open. */
export type About = Partial<Omit<HistoryEvent, 'atNs' | 'deadlineNs' | 'fromNs'>> & {
  readonly deadlineMs?: number;
};

const AT = { proc: 'p', worker: 'w', key: 'k' } as const;

export function event(
  op: HistoryEvent['op'],
  type: HistoryEvent['type'],
  atMs: number,
  { deadlineMs, ...about }: About = {},
): HistoryEvent {
  const deadline = deadlineMs === undefined ? {} : { deadlineNs: deadlineMs * 1e6 };
  return { ...AT, op, type, atNs: atMs * 1e6, ...deadline, ...about };
}

let calls = 0;

/** A call and its outcome. */
export function call(
  op: RecordedCall,
  [fromMs, toMs]: readonly [number, number],
  about: About = {},
  type: 'ok' | 'fail' | 'info' = 'ok',
): HistoryEvent[] {
  calls += 1;
  const { deadlineMs, ...asked } = about;
  return [
    event(op, 'invoke', fromMs, { call: calls, ...asked }),
    event(op, type, toMs, { call: calls, ...about }),
  ];
}

/** A grant without its end. */
export function grant(hold: string, [invokedMs, grantedMs]: readonly [number, number], about: About = {}) {
  return call('acquire', [invokedMs, grantedMs], { hold, ...about });
}

export function release(
  hold: string,
  span: readonly [number, number],
  about: About = {},
  type: 'ok' | 'fail' | 'info' = 'ok',
) {
  return call('release', span, { hold, ...about }, type);
}

/** A whole visit: invoked, granted, release invoked, released. */
export function visit(hold: string, fromMs: number, toMs: number, about: About = {}): HistoryEvent[] {
  const { deadlineMs, ...held } = about;
  return [...grant(hold, [fromMs - 1, fromMs], about), ...release(hold, [toMs, toMs + 1], held)];
}

export function lost(hold: string, atMs: number, what: string, about: About = {}): HistoryEvent {
  return event('lost', 'info', atMs, { hold, what, ...about });
}

export function died(proc: string, atMs: number): HistoryEvent {
  return event('died', 'info', atMs, { proc, key: '' });
}

export function stalled(proc: string, fromMs: number, toMs: number): HistoryEvent {
  return { ...event('stalled', 'info', toMs, { proc, key: '' }), fromNs: fromMs * 1e6 };
}

export function fault(what: string, [fromMs, toMs]: readonly [number, number], about: About = {}) {
  const nemesis = { proc: 'nemesis', worker: '', key: '', what, ...about };
  return [event('fault', 'invoke', fromMs, nemesis), event('fault', 'ok', toMs, nemesis)];
}

export function set(about: About, atMs = 0): HistoryEvent {
  return event('set', 'info', atMs, about);
}

type Step = HistoryEvent | readonly HistoryEvent[];

/** What is wrong with a history. */
export function violationsOf(steps: readonly Step[], bounds?: Partial<CheckBounds>): readonly Violation[] {
  return checkHistory(steps.flat(), bounds).violations;
}

/** The kinds of it, each once. */
export function kindsOf(steps: readonly Step[], bounds?: Partial<CheckBounds>): ViolationKind[] {
  return [...new Set(violationsOf(steps, bounds).map(({ kind }) => kind))];
}
