/** Permits: more than there are is found, as many as there are is not. */
import { describe, expect, it } from 'vitest';
import {
  call,
  died,
  event,
  grant,
  kindsOf,
  lost,
  release,
  set,
  violationsOf,
  visit,
} from './support/scribe.ts';

const kind = 'semaphore' as const;

describe('taken permits', () => {
  it('may be as many as exist, and not one more', () => {
    const two = { kind, permits: 2 };
    const out = [visit('h1', 100, 300, two), visit('h2', 150, 250, { kind })];
    expect(kindsOf([set({ permits: 3 }), ...out])).toEqual([]);
    expect(violationsOf([set({ permits: 2 }), ...out])).toMatchObject([
      { kind: 'too-many-permits', holds: ['h1', 'h2'], fromNs: 150e6 },
    ]);
  });

  it('are not judged while their number is unknown', () => {
    expect(kindsOf([visit('h1', 100, 300, { kind }), visit('h2', 150, 250, { kind })])).toEqual([]);
  });

  it('are kept by a process that died, unless they have a lease', () => {
    const dead = (about: object) => [
      ...grant('h1', [99, 100], { proc: 'dead', ...about }),
      died('dead', 150),
    ];
    const next = (about: object) => visit('h2', 200, 300, about);
    expect(kindsOf([set({ permits: 1 }), dead({ kind }), next({ kind })])).toEqual(['too-many-permits']);
    const leased = { kind: 'permit' as const };
    expect(kindsOf([set({ permits: 1 }), dead(leased), next(leased)])).toEqual([]);
  });

  it('with a lease end with it, or with the loss', () => {
    const leased = { kind: 'permit' as const };
    const first = [
      ...grant('h1', [99, 100], { ...leased, deadlineMs: 200 }),
      lost('h1', 200, 'expired', leased),
    ];
    expect(kindsOf([set({ permits: 1 }), first, visit('h2', 201, 300, leased)])).toEqual([]);
    expect(kindsOf([set({ permits: 1 }), first, visit('h2', 199, 300, leased)])).toEqual([
      'too-many-permits',
    ]);
  });

  it('may outnumber the total after a reduction, but none is granted then', () => {
    const cut = [set({ permits: 2 }), set({ permits: 1 }, 200)];
    const out = [visit('h1', 100, 400, { kind }), visit('h2', 150, 400, { kind })];
    expect(kindsOf([...cut, ...out])).toEqual([]);
    expect(kindsOf([...cut, out[0] ?? [], visit('h2', 250, 400, { kind })])).toEqual([]);
    const since = [visit('h1', 210, 400, { kind }), visit('h2', 250, 400, { kind })];
    expect(kindsOf([...cut, ...since])).toEqual(['too-many-permits']);
  });

  it('are released by the worker that took them if the history has no names for them', () => {
    const about = { kind };
    const once = [...call('acquire', [100, 101], about), ...call('release', [200, 201], about)];
    const again = [...call('acquire', [202, 203], about), ...call('release', [300, 301], about)];
    expect(kindsOf([set({ permits: 1 }), once, again])).toEqual([]);
    expect(kindsOf([set({ permits: 1 }), once.slice(0, 2), again])).toContain('too-many-permits');
  });

  it('are found among two thousand visits', () => {
    const visits = Array.from({ length: 2_000 }, (_, i) => visit(`h${i}`, i * 10, i * 10 + 9, { kind }));
    expect(kindsOf([set({ permits: 1 }), ...visits])).toEqual([]);
    visits[700] = visit('h700', 7_000, 7_011, { kind });
    expect(violationsOf([set({ permits: 1 }), ...visits])).toMatchObject([{ holds: ['h700', 'h701'] }]);
  });
});

describe('an acquisition that is not granted', () => {
  it('takes no permit', () => {
    const about = { kind };
    const none = [
      call('acquire', [100, 101], about, 'fail'),
      call('acquire', [102, 103], about, 'info'),
      [event('acquire', 'invoke', 104, { kind, proc: 'dead' }), died('dead', 105)],
    ];
    expect(kindsOf([set({ permits: 1 }), ...none, visit('h1', 110, 120, { kind })])).toEqual([]);
  });

  it('may count as released if in doubt', () => {
    const doubt = [...grant('h1', [99, 100], { kind }), ...release('h1', [150, 160], { kind }, 'info')];
    expect(kindsOf([set({ permits: 1 }), doubt, visit('h2', 151, 200, { kind })])).toEqual([]);
  });
});

describe('permits left at the end', () => {
  const left = (permits: number, atMs = 9_000) =>
    event('left', 'info', atMs, { proc: 'witness', worker: '', permits });
  const there = set({ permits: 3 });

  it('are all that exist', () => {
    expect(kindsOf([there, visit('h1', 100, 200, { kind }), left(3)])).toEqual([]);
    for (const permits of [2, 4]) {
      expect(violationsOf([there, visit('h1', 100, 200, { kind }), left(permits)])).toMatchObject([
        {
          kind: 'not-conserved',
          text: `${permits} permits of "k" were free at 9000.0 ms, but there must be 3 of 3`,
        },
      ]);
    }
  });

  it('are all except those of a dead process', () => {
    const dead = [...grant('h1', [99, 100], { kind, proc: 'dead' }), died('dead', 150)];
    expect(kindsOf([there, dead, left(2)])).toEqual([]);
    expect(kindsOf([there, dead, left(3)])).toEqual(['not-conserved']);
  });

  it('may differ by the pending calls of a process that died', () => {
    const dead = { kind, proc: 'dead' };
    const acquiring = [event('acquire', 'invoke', 140, { ...dead, call: 1 }), died('dead', 150)];
    const releasing = [
      ...grant('h1', [99, 100], dead),
      event('release', 'invoke', 140, { ...dead, hold: 'h1' }),
      died('dead', 150),
    ];
    const unclear = [...call('acquire', [100, 101], dead, 'info'), died('dead', 150)];
    for (const doubt of [acquiring, releasing, unclear]) {
      expect(kindsOf([there, doubt, left(2)])).toEqual([]);
      expect(kindsOf([there, doubt, left(3)])).toEqual([]);
      expect(kindsOf([there, doubt, left(1)])).toEqual(['not-conserved']);
    }
  });

  it('are settled by a process that lives', () => {
    expect(kindsOf([there, call('acquire', [100, 101], { kind }, 'info'), left(3)])).toEqual([]);
    expect(kindsOf([there, call('acquire', [100, 101], { kind }, 'info'), left(2)])).toEqual([
      'not-conserved',
    ]);
  });

  it('follow the number that was set last', () => {
    expect(kindsOf([there, set({ permits: 5 }, 500), left(5)])).toEqual([]);
    expect(kindsOf([there, set({ permits: 5 }, 500), left(3)])).toEqual(['not-conserved']);
  });

  it('with leases are free when the leases have ended', () => {
    const about = { kind: 'permit', proc: 'dead', deadlineMs: 1_100 } as const;
    const dead = [...grant('h1', [99, 100], about), died('dead', 150)];
    expect(kindsOf([there, dead, left(2, 2_000)])).toEqual([]);
    expect(kindsOf([there, dead, left(3, 2_000)])).toEqual([]);
    expect(kindsOf([there, dead, left(2, 9_000)])).toEqual(['not-conserved']);
    expect(kindsOf([there, dead, left(3, 9_000)])).toEqual([]);
  });
});
