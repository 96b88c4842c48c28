/** The checker: silent about what is allowed, loud about every violation that is planted. */
import { describe, expect, it } from 'vitest';
import { check, type HistoryEvent, type Violation } from './support/history.ts';

type Step = Partial<HistoryEvent> & Pick<HistoryEvent, 'op' | 'type' | 'atNs'>;

function history(...steps: Step[]): HistoryEvent[] {
  return steps.map((step) => ({ proc: 'p', worker: 0, key: 'lock', ...step }));
}

/** A whole visit: invoked, granted, unlock invoked, unlocked. */
function visit(hold: string, from: number, to: number, extra: Partial<HistoryEvent> = {}): Step[] {
  const worker = Number(hold.replace(/\D/g, ''));
  return [
    { op: 'acquire', type: 'invoke', atNs: from - 5, worker, ...extra },
    { op: 'acquire', type: 'ok', atNs: from, hold, worker, ...extra },
    { op: 'unlock', type: 'invoke', atNs: to, hold, worker, ...extra },
    { op: 'unlock', type: 'ok', atNs: to + 5, hold, worker, ...extra },
  ];
}

const kinds = (violations: Violation[]) => violations.map(({ kind }) => kind);

describe('the checker', () => {
  it('accepts visits one after the other, in whichever order they were written down', () => {
    const events = history(...visit('h3', 300, 400), ...visit('h1', 100, 200), ...visit('h2', 200, 300));
    expect(check(events)).toEqual([]);
  });

  it('accepts the same time on different keys', () => {
    expect(check(history(...visit('h1', 100, 300), ...visit('h2', 150, 250, { key: 'other' })))).toEqual([]);
  });

  it('finds an overlap, also with a window that began long before', () => {
    const events = history(...visit('h1', 100, 900), ...visit('h2', 200, 300), ...visit('h3', 400, 500));
    expect(check(events)).toEqual([
      {
        kind: 'overlap',
        first: { key: 'lock', hold: 'h1', fromNs: 100, toNs: 900 },
        second: { key: 'lock', hold: 'h2', fromNs: 200, toNs: 300 },
      },
      {
        kind: 'overlap',
        first: { key: 'lock', hold: 'h1', fromNs: 100, toNs: 900 },
        second: { key: 'lock', hold: 'h3', fromNs: 400, toNs: 500 },
      },
    ]);
  });

  it('ends a window at the deadline, at the loss, at the death and at the invocation of unlock', () => {
    const before: Step[][] = [
      [{ op: 'acquire', type: 'ok', atNs: 100, hold: 'h1', deadlineNs: 200 }],
      [
        { op: 'acquire', type: 'ok', atNs: 100, hold: 'h1' },
        { op: 'lost', type: 'info', atNs: 200, hold: 'h1' },
      ],
      [
        { op: 'acquire', type: 'ok', atNs: 100, hold: 'h1', proc: 'dead' },
        { op: 'died', type: 'info', atNs: 200, proc: 'dead' },
      ],
      [
        { op: 'acquire', type: 'ok', atNs: 100, hold: 'h1' },
        { op: 'unlock', type: 'invoke', atNs: 200, hold: 'h1' },
        { op: 'unlock', type: 'info', atNs: 900, hold: 'h1' },
      ],
    ];
    for (const first of before) {
      expect(kinds(check(history(...first, ...visit('h2', 201, 300))))).not.toContain('overlap');
      expect(kinds(check(history(...first, ...visit('h2', 199, 300))))).toContain('overlap');
    }
  });

  it('gives no window to an acquire that failed or was left in doubt', () => {
    const events = history(
      ...visit('h1', 100, 900),
      { op: 'acquire', type: 'invoke', atNs: 200, worker: 2 },
      { op: 'acquire', type: 'fail', atNs: 300, worker: 2 },
      { op: 'acquire', type: 'invoke', atNs: 400, worker: 2 },
      { op: 'acquire', type: 'info', atNs: 500, worker: 2 },
    );
    expect(check(events)).toEqual([]);
  });

  it('finds an owner granted twice, a late loss, an unlock after a loss, a leak and a hung call', () => {
    const granted: Step = { op: 'acquire', type: 'ok', atNs: 100, hold: 'h1', expiresNs: 500 };
    const lost: Step = { op: 'lost', type: 'info', atNs: 501, hold: 'h1' };
    const told = { ...lost, atNs: 499 };
    const unlock = (type: 'invoke' | 'ok' | 'fail', atNs: number): Step => ({
      op: 'unlock',
      type,
      atNs,
      hold: 'h1',
    });

    expect(check(history(granted, told))).toEqual([]);
    expect(check(history(granted, lost))).toEqual([{ kind: 'late loss', hold: 'h1', lateNs: 1 }]);
    expect(check(history(granted, told, unlock('invoke', 600), unlock('fail', 601)))).toEqual([]);
    expect(check(history(granted, told, unlock('invoke', 600), unlock('ok', 601)))).toEqual([
      { kind: 'unlocked after loss', hold: 'h1' },
    ]);
    expect(check(history(granted))).toEqual([{ kind: 'leak', hold: 'h1' }]);
    expect(check(history(granted, unlock('invoke', 200)))).toEqual([
      { kind: 'hung', proc: 'p', worker: 0, op: 'unlock' },
    ]);
    expect(kinds(check(history(...visit('h1', 100, 200), ...visit('h1', 300, 400))))).toEqual([
      'owner reused',
    ]);
  });

  it('finds a single overlap among ten thousand visits', () => {
    const visits = Array.from({ length: 10_000 }, (_, i) => visit(`h${i}`, i * 100, i * 100 + 100));
    expect(check(history(...visits.flat()))).toEqual([]);
    visits[7_000] = visit('h7000', 700_000, 700_101);
    expect(check(history(...visits.flat()))).toMatchObject([
      { kind: 'overlap', first: { hold: 'h7000' }, second: { hold: 'h7001' } },
    ]);
  });
});
