/** Waiters: one that is left behind is found; one that has to wait is not. */
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../../../../src/testing/history/check.ts';
import {
  type About,
  call,
  died,
  event,
  fault,
  grant,
  kindsOf,
  lost,
  release,
  set,
  stalled,
  violationsOf,
  visit,
} from './support/scribe.ts';

const bounds = { takeoverMs: 1_000, settleMs: 500, silentMs: 2_000 };
const kinds = (...steps: Parameters<typeof kindsOf>[0]) => kindsOf(steps, bounds);

/** A waiter of another process, from 100 ms on. */
const waits = (untilMs: number, about: About = {}) => [
  ...grant('h2', [100, untilMs], { proc: 'q', ...about }),
  ...release('h2', [untilMs + 1, untilMs + 2], { proc: 'q' }),
];
const first = visit('h1', 50, 200);

describe('a waiter for a free lock', () => {
  it('gets the lock within the bound', () => {
    expect(kinds(first, waits(1_200))).toEqual([]);
    expect(violationsOf([first, ...waits(1_300)], bounds)).toMatchObject([
      {
        kind: 'left-behind',
        procs: ['q'],
        text: 'q/w waited for "k" from 51.0 ms on, which was free for 1099.0 ms from 152.0 ms on',
      },
    ]);
  });

  it('may be refused in the end, but not left waiting', () => {
    expect(kinds(first, call('acquire', [100, 1_200], { proc: 'q' }, 'fail'))).toEqual([]);
    expect(kinds(first, call('acquire', [100, 1_300], { proc: 'q' }, 'fail'))).toEqual(['left-behind']);
    expect(kinds(first, event('acquire', 'invoke', 100, { proc: 'q' }), visit('h3', 1_300, 1_301))).toEqual([
      'hung',
      'left-behind',
    ]);
  });

  it('has to wait while others take and release the lock', () => {
    const others = [500, 1_000, 1_500, 2_000].map((at) => visit(`o${at}`, at, at + 100));
    expect(kinds(first, ...others, waits(2_500))).toEqual([]);
  });

  it('has to wait while the previous hold may last', () => {
    const unclear = [...grant('h1', [49, 50]), ...release('h1', [200, 201], {}, 'info')];
    const leased = [...grant('h1', [49, 50], { leaseMs: 600 }), lost('h1', 200, 'unreachable')];
    // The lease that was known of is 600 ms; the longest that the server may have given is a little more than twice that.
    expect(kinds(unclear, waits(3_000))).toEqual([]);
    expect(kinds(leased, waits(2_500))).not.toContain('left-behind');
    expect(kinds(leased, waits(2_700))).toContain('left-behind');
  });

  it('has to wait for the lease of a process that died, not longer', () => {
    const dead = [...grant('h1', [49, 50], { deadlineMs: 650, proc: 'd' }), died('d', 200)];
    expect(kinds(dead, waits(2_500))).toEqual([]);
    expect(kinds(dead, waits(2_700))).toEqual(['left-behind']);
  });

  it('has to wait for acquisitions in doubt, and for the place of a waiter that died', () => {
    const doubtful = call('acquire', [150, 160], {}, 'info');
    expect(kinds(first, doubtful, waits(3_100))).toEqual([]);
    expect(kinds(first, doubtful, waits(3_300))).toEqual(['left-behind']);
    const dead = [event('acquire', 'invoke', 90, { proc: 'd', call: 1 }), died('d', 160)];
    expect(kinds(first, dead, waits(3_100))).toEqual([]);
    expect(kinds(first, dead, waits(3_300))).toEqual(['left-behind']);
  });

  it('has to wait while a fault lasts, and a little longer', () => {
    expect(kinds(first, fault('cut', [300, 900]), waits(2_300))).toEqual([]);
    expect(kinds(first, fault('cut', [300, 900]), waits(2_500))).toEqual(['left-behind']);
  });

  it('has to wait while its process, or that of an earlier waiter, stands still', () => {
    expect(kinds(first, stalled('q', 300, 1_200), waits(2_100))).toEqual([]);
    expect(kinds(first, stalled('q', 300, 1_200), waits(2_300))).toEqual(['left-behind']);
    const other = [
      ...grant('h3', [90, 2_200], { proc: 'r' }),
      ...release('h3', [2_201, 2_202], { proc: 'r' }),
    ];
    expect(kinds(first, stalled('r', 300, 1_900), other, waits(2_300))).toEqual([]);
    expect(kinds(first, other, waits(2_300))).toEqual(['left-behind']);
  });

  it('may have died', () => {
    expect(kinds(first, event('acquire', 'invoke', 100, { proc: 'd' }), died('d', 5_000))).toEqual([]);
  });
});

describe('members of a multi lock', () => {
  it('wait for each other, and keep the members they have', () => {
    const member = (key: string) =>
      event('acquire', 'invoke', 100, { proc: 'm', worker: 'multi', key, call: key === 'k' ? 1 : 2 });
    const granted = ['k', 'l'].map((key) => [
      { ...member(key), type: 'ok' as const, atNs: 3_000e6, hold: `m@${key}` },
      ...release(`m@${key}`, [3_001, 3_002], { proc: 'm', key }),
    ]);
    const busy = visit('h9', 50, 2_900, { key: 'l' });
    expect(kinds(first, busy, [member('k'), member('l')], ...granted)).toEqual([]);
    expect(kinds(first, busy, [member('k'), member('l')], ...granted, waits(3_100))).toEqual([]);
  });
});

describe('a waiter for permits', () => {
  const kind = 'semaphore' as const;
  const there = (permits: number) => set({ permits });

  it('gets the free permits', () => {
    const busy = visit('h1', 50, 3_000, { kind });
    expect(kinds(there(2), busy, waits(1_600, { kind }))).toEqual(['left-behind']);
    expect(kinds(there(1), busy, waits(3_100, { kind }))).toEqual([]);
    expect(kinds(there(2), busy, waits(3_100, { kind, permits: 2 }))).toEqual([]);
    expect(kinds(there(3), busy, waits(3_100, { kind, permits: 2 }))).toEqual(['left-behind']);
  });

  it('does not get permits of dead processes', () => {
    const dead = [...grant('h1', [49, 50], { kind, proc: 'd' }), died('d', 60)];
    const waiting = call('acquire', [100, 9_000], { kind, proc: 'q' }, 'fail');
    expect(kinds(there(1), dead, waiting)).toEqual([]);
    expect(kinds(there(2), dead, waiting)).toEqual(['left-behind']);
  });

  it('does not get permits that the history does not contain', () => {
    expect(kinds(call('acquire', [100, 9_000], { kind }, 'fail'))).toEqual([]);
  });
});

describe('the worst time to take over', () => {
  it('is that of a waiter, from the release to its grant', () => {
    const { figures } = checkHistory([...first, ...waits(230), ...visit('h3', 900, 950)]);
    expect(figures.worstTakeoverMs).toBeCloseTo(29);
  });

  it('begins with the end of a lease, and leaves out the time in which the waiter stood still', () => {
    const dead = [...grant('h1', [49, 50], { deadlineMs: 650, proc: 'd' }), died('d', 200)];
    expect(checkHistory([...dead, ...waits(700)]).figures.worstTakeoverMs).toBeCloseTo(50);
    const stall = stalled('q', 660, 690);
    expect(checkHistory([...dead, stall, ...waits(700)]).figures.worstTakeoverMs).toBeCloseTo(20);
  });
});
