/** Samples of a history: a refusal of a free lock is found, and none that something explains. */
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../../../../src/testing/history/check.ts';
import type { HistoryEvent } from '../../../../src/testing/history/event.ts';
import { type About, call, died, event, fault, grant, lost, release, set, visit } from './support/scribe.ts';

const bounds = { samples: 20, settleMs: 100, silentMs: 200 };

function check(...steps: (HistoryEvent | readonly HistoryEvent[])[]) {
  const { verdict, violations } = checkHistory(steps.flat(), bounds);
  return violations.length === 0 ? verdict : violations.map(({ kind }) => kind);
}

const refused = (span: readonly [number, number], about: About = {}) =>
  call('acquire', span, { kind: 'lock', waitMs: 0, proc: 'q', ...about }, 'fail');
const held = (about: About = {}) => visit('h1', 100, 200, { kind: 'lock', ...about });

describe('a refused single attempt', () => {
  it('needs a lock that was taken', () => {
    expect(check(held(), refused([150, 151]))).toBe('valid');
    expect(check(held(), refused([99, 99.5]))).toBe('valid');
    expect(check(held(), refused([300, 301]))).toEqual(['not-linearizable']);
    expect(check(held(), refused([300, 301], { waitMs: 100 }))).toBe('valid');
  });

  it('is reported with all that matters, and no more', () => {
    const others = [1, 2, 3, 4].map((i) => visit(`o${i}`, 300 + 10 * i, 305 + 10 * i, { kind: 'lock' }));
    const { violations } = checkHistory([held(), ...others, refused([327, 328])].flat(), bounds);
    expect(violations).toMatchObject([
      { kind: 'not-linearizable', holds: [], procs: ['q'], fromNs: 327e6, toNs: 328e6 },
    ]);
    expect(violations[0]?.text).toBe(
      'No order of these calls of "k" is one of a mutex: q/w asked at 228.0 ms and was refused at 229.0 ms',
    );
  });

  it('may have found a lock whose holder does not know of its grant', () => {
    expect(check(held(), call('acquire', [250, 260], { kind: 'lock' }, 'info'), refused([300, 301]))).toBe(
      'valid',
    );
    const dying = [event('acquire', 'invoke', 250, { kind: 'lock', proc: 'd' }), died('d', 260)];
    expect(check(held(), dying, refused([300, 301]))).toBe('valid');
    expect(check(held(), refused([300, 301]), call('acquire', [302, 310], { kind: 'lock' }, 'info'))).toEqual(
      ['not-linearizable'],
    );
  });

  it('may have found a lock that its holder has lost or was releasing', () => {
    const leased = [...grant('h1', [99, 100], { kind: 'lock', deadlineMs: 200 }), lost('h1', 200, 'expired')];
    expect(check(leased, refused([210, 211]))).toBe('valid');
    const unclear = [...grant('h1', [99, 100], { kind: 'lock' }), ...release('h1', [200, 210], {}, 'info')];
    expect(check(unclear, refused([300, 301]))).toBe('valid');
    const dead = [...grant('h1', [99, 100], { kind: 'lock', proc: 'd', deadlineMs: 400 }), died('d', 150)];
    expect(check(dead, refused([300, 301]))).toBe('valid');
  });

  it('is not judged near a fault or a forced release, which may have kept all callers out', () => {
    expect(check(held(), fault('failover', [205, 206]), refused([300, 301]))).toBe('valid');
    expect(check(held(), fault('failover', [190, 195]), refused([300, 301]))).toEqual(['not-linearizable']);
    expect(check(held(), call('force', [299, 302], { proc: 'admin' }), refused([300, 301]))).toBe('valid');
  });

  it('is not judged of groups: their members come and go', () => {
    expect(check(held({ owner: 'a:1 b:1' }), refused([300, 301]))).toBe('valid');
    const member = (key: string, n: number) => [
      event('acquire', 'invoke', 300, { kind: 'lock', waitMs: 0, proc: 'q', key, call: n }),
      event('acquire', 'fail', 301, { kind: 'lock', waitMs: 0, proc: 'q', key, call: n }),
    ];
    expect(check(held(), member('k', 1_001), member('other', 1_002))).toBe('valid');
  });
});

describe('other kinds', () => {
  it('permits are refused when too few are left', () => {
    const kind = 'semaphore' as const;
    const one = [set({ permits: 2 }), ...visit('h1', 100, 200, { kind })];
    expect(check(one, refused([150, 151], { kind }))).toEqual(['not-linearizable']);
    expect(check(one, refused([150, 151], { kind, permits: 2 }))).toBe('valid');
    expect(
      check(set({ permits: 1 }), set({ permits: 2 }, 152), one.slice(1), refused([150, 151], { kind })),
    ).toBe('valid');
  });

  it('readers are refused by a writer, or while one waits', () => {
    const [reads, writes] = [{ kind: 'read' }, { kind: 'write' }] as const;
    const reader = visit('r1', 100, 200, reads);
    expect(check(reader, refused([150, 151], writes))).toBe('valid');
    expect(check(reader, refused([150, 151], reads))).toEqual(['not-linearizable']);
    const waiting = call('acquire', [140, 160], { ...writes, proc: 'w' }, 'fail');
    expect(check(reader, waiting, refused([150, 151], reads))).toBe('valid');
    expect(check(reader, waiting, refused([340, 341], reads))).toBe('valid');
    expect(check(reader, waiting, refused([380, 381], reads))).toEqual(['not-linearizable']);
  });

  it('the queue of a fair lock has no model', () => {
    expect(check(held({ kind: 'fair' }), refused([300, 301], { kind: 'fair' }))).toBe('valid');
  });

  it('a party that is refused what it holds', () => {
    const mine = { party: 'me', proc: 'q' };
    expect(check(held(mine), refused([150, 151], mine))).toEqual(['not-linearizable']);
    expect(check(held(mine), refused([150, 151]))).toBe('valid');
  });
});

describe('a search that is given up', () => {
  it('leaves the verdict open', () => {
    const many = Array.from({ length: 12 }, (_, i) =>
      visit(`h${i}`, 100 + 10 * i, 105 + 10 * i, { kind: 'lock' }),
    );
    const events = many.flat();
    expect(checkHistory(events, { ...bounds, searchSteps: 1 })).toMatchObject({
      verdict: 'unknown',
      violations: [],
    });
  });
});

describe('samples', () => {
  it('are the same for the same seed', () => {
    const many = Array.from({ length: 400 }, (_, i) =>
      visit(`h${i}`, 100 + 10 * i, 105 + 10 * i, { kind: 'lock' }),
    );
    const bad = [refused([1_007, 1_008]), refused([2_007, 2_008]), refused([3_007, 3_008])];
    const find = (seed: number, samples: number) =>
      checkHistory([...many, ...bad].flat(), { ...bounds, seed, samples }).violations.map(
        ({ fromNs }) => fromNs / 1e6,
      );
    expect(find(7, 20)).toEqual(find(7, 20));
    expect(find(7, 400)).toEqual([1_007, 2_007, 3_007]);
    expect(find(7, 0)).toEqual([]);
  });
});
