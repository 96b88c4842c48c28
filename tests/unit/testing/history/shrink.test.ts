/** What is told of a violation: the events that show it, and none of the others. */
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../../../../src/testing/history/check.ts';
import type { HistoryEvent } from '../../../../src/testing/history/event.ts';
import { describeViolation, shrinkHistory } from '../../../../src/testing/history/shrink.ts';
import type { Violation, ViolationKind } from '../../../../src/testing/history/verdict.ts';
import { call, died, event, fault, grant, lost, set, stalled, visit } from './support/scribe.ts';

const bounds = { samples: 40, settleMs: 50, takeoverMs: 500 };

function find(history: readonly HistoryEvent[], kind: ViolationKind): Violation {
  const found = checkHistory(history, bounds).violations.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`No ${kind} in this history`);
  return found;
}

const others = [
  ...visit('o1', 10, 20, { proc: 'z' }),
  ...visit('o2', 900, 950, { proc: 'z' }),
  ...visit('o3', 120, 130, { proc: 'z', key: 'another' }),
];

describe('a violation as text', () => {
  it('has a line for each event of the holds concerned, and for events at that time', () => {
    const history = [
      ...others,
      ...visit('h1', 100, 300, { proc: 'a', worker: '1', deadlineMs: 600, token: 7 }),
      ...grant('h2', [150, 200], { proc: 'b', worker: '22' }),
      lost('h2', 400, 'expired', { proc: 'b', worker: '22' }),
      ...fault('reset', [180, 190]),
      ...fault('cut', [210, 220]),
      ...fault('later', [500, 510]),
      stalled('a', 205, 260),
      stalled('z', 205, 260),
    ];
    expect(describeViolation(history, find(history, 'overlap'), bounds)).toBe(
      [
        'overlap: h1 of a/1 (91.0 ms to 291.0 ms) and h2 of b/22 (191.0 ms to 391.0 ms) held "k" at the same time',
        '       90.0 ms  a/1      acquire "k" invoke (h1, token 7)',
        '       91.0 ms  a/1      acquire "k" ok (h1, token 7, until 591.0 ms)',
        '      141.0 ms  b/22     acquire "k" invoke (h2)',
        '      191.0 ms  b/22     acquire "k" ok (h2)',
        '      201.0 ms  nemesis  fault cut begins',
        '      211.0 ms  nemesis  fault cut is over',
        '      251.0 ms  a/w      stood still since 196.0 ms',
        '      291.0 ms  a/1      release "k" invoke (h1, token 7)',
        '      292.0 ms  a/1      release "k" ok (h1, token 7)',
        '      391.0 ms  b/22     lost "k" (h2, expired)',
      ].join('\n'),
    );
  });

  it('leaves out readings of the deadline from other times', () => {
    const samples = Array.from({ length: 100 }, (_, i) =>
      event('held', 'info', 101 + i, { hold: 'h1', deadlineMs: 1_000 + i }),
    );
    const history = [...visit('h1', 100, 300, { deadlineMs: 900 }), ...samples, ...visit('h2', 195, 198)];
    const shrunk = shrinkHistory(history, find(history, 'overlap'));
    expect(shrunk.filter(({ op }) => op === 'held')).toHaveLength(4);
    expect(shrunk).toHaveLength(12);
  });

  it('is cut short when there is too much of it', () => {
    const takes = Array.from({ length: 300 }, (_, i) =>
      call('acquire', [100 + i, 101 + i], { kind: 'rate' }),
    ).flat();
    const history = [set({ permits: 299, intervalMs: 10_000 }), ...takes];
    const lines = describeViolation(history, find(history, 'rate-exceeded')).split('\n');
    expect(lines).toHaveLength(202);
    expect(lines.at(-1)).toBe('  and 401 events more');
  });
});

describe('a history cut down', () => {
  const opsOf = (history: readonly HistoryEvent[], kind: ViolationKind) =>
    shrinkHistory(history, find(history, kind), bounds).map(({ op, type, proc }) => `${proc} ${op} ${type}`);

  it('keeps the call that hung, and drops the deaths of other processes', () => {
    const history = [...others, event('acquire', 'invoke', 500, { proc: 'a' }), died('y', 400)];
    expect(opsOf(history, 'hung')).toEqual(['a acquire invoke']);
  });

  it('keeps the waiter that was left behind', () => {
    const waits = call('acquire', [1_000, 2_000], { proc: 'a' }, 'fail');
    expect(opsOf([...others, ...waits], 'left-behind')).toEqual(['a acquire invoke', 'a acquire fail']);
  });

  it('keeps all calls that counted down a latch, and its count', () => {
    const kind = 'latch' as const;
    const history = [
      ...others,
      set({ count: 3, proc: 'witness' }),
      ...call('countDown', [100, 101], { kind, proc: 'a' }),
      ...call('countDown', [200, 201], { kind, proc: 'b' }),
      ...call('countDown', [300, 301], { kind, proc: 'b' }),
      ...call('await', [50, 250], { kind, proc: 'c' }),
    ];
    expect(opsOf(history, 'latch-opened-early')).toEqual([
      'witness set info',
      'c await invoke',
      'a countDown invoke',
      'a countDown ok',
      'b countDown invoke',
      'b countDown ok',
      'c await ok',
    ]);
  });

  it('keeps only the refusal that nothing explains', () => {
    const kind = 'lock' as const;
    const busy = Array.from({ length: 30 }, (_, i) =>
      visit(`h${i}`, 100 + 20 * i, 110 + 20 * i, { kind, proc: 'b' }),
    );
    const history = [...busy.flat(), ...call('acquire', [313, 314], { kind, waitMs: 0, proc: 'a' }, 'fail')];
    expect(opsOf(history, 'not-linearizable')).toEqual(['a acquire invoke', 'a acquire fail']);
  });

  it('is invalid for the same reason', () => {
    const history = [
      ...others,
      ...visit('h1', 100, 300),
      ...visit('h2', 200, 400),
      ...fault('cut', [210, 220]),
    ];
    const shrunk = shrinkHistory(history, find(history, 'overlap'));
    expect(checkHistory(shrunk).violations.map(({ kind, holds }) => [kind, ...holds])).toEqual([
      ['overlap', 'h1', 'h2'],
    ]);
  });
});
