/** Windows of different parties on one key: every overlap is found, and no neighbour is taken for one. */
import { describe, expect, it } from 'vitest';
import type { HistoryEvent } from '../../../../src/testing/history/event.ts';
import { call, died, event, grant, kindsOf, lost, release, violationsOf, visit } from './support/scribe.ts';

describe('exclusive windows', () => {
  it('may follow each other, in whichever order they were written down', () => {
    expect(violationsOf([visit('h3', 300, 400), visit('h1', 100, 200), visit('h2', 200, 300)])).toEqual([]);
  });

  it('may lie at the same time on different keys', () => {
    expect(violationsOf([visit('h1', 100, 300), visit('h2', 150, 250, { key: 'other' })])).toEqual([]);
  });

  it.each(['lock', 'fair', 'fenced', 'write'] as const)('of the kind %s may not overlap', (kind) => {
    const found = violationsOf([
      visit('h1', 100, 300, { kind, proc: 'a' }),
      visit('h2', 200, 400, { kind, proc: 'b' }),
    ]);
    expect(found).toMatchObject([
      { kind: 'overlap', key: 'k', holds: ['h1', 'h2'], procs: ['a', 'b'], fromNs: 200e6, toNs: 300e6 },
    ]);
    expect(found[0]?.text).toBe(
      'h1 of a/w (1.0 ms to 201.0 ms) and h2 of b/w (101.0 ms to 301.0 ms) held "k" at the same time',
    );
  });

  it('may not overlap one that began long before', () => {
    const found = violationsOf([visit('h1', 100, 900), visit('h2', 200, 300), visit('h3', 400, 500)]);
    expect(found.map(({ holds }) => holds)).toEqual([
      ['h1', 'h2'],
      ['h1', 'h3'],
    ]);
  });

  it('end at the deadline, the loss, the death and the invocation of the release', () => {
    const firsts: HistoryEvent[][] = [
      grant('h1', [99, 100], { deadlineMs: 200 }),
      [...grant('h1', [99, 100]), lost('h1', 200, 'expired')],
      [...grant('h1', [99, 100], { proc: 'dead' }), died('dead', 200)],
      [...grant('h1', [99, 100]), ...release('h1', [200, 900], {}, 'info')],
      [
        ...grant('h1', [99, 100], { deadlineMs: 150 }),
        event('held', 'info', 140, { hold: 'h1', deadlineMs: 200 }),
      ],
    ];
    for (const first of firsts) {
      expect(kindsOf([first, visit('h2', 201, 300)])).not.toContain('overlap');
      expect(kindsOf([first, visit('h2', 199, 300)])).toContain('overlap');
    }
  });

  it('do not begin with an acquisition that failed, is in doubt or never ended', () => {
    const others = [
      call('acquire', [200, 300], {}, 'fail'),
      call('acquire', [400, 500], {}, 'info'),
      [event('acquire', 'invoke', 600, { proc: 'dead' }), died('dead', 700)],
    ];
    expect(violationsOf([visit('h1', 100, 900), ...others])).toEqual([]);
  });

  it('of one party may nest; the same name in another process is another party', () => {
    const mine = { party: 'me' };
    expect(violationsOf([visit('h1', 100, 400, mine), visit('h2', 200, 300, mine)])).toEqual([]);
    expect(kindsOf([visit('h1', 100, 400, mine), visit('h2', 200, 300, { ...mine, proc: 'q' })])).toEqual([
      'overlap',
    ]);
  });

  it('of one party do not hide the window of another', () => {
    const mine = { party: 'me' };
    const nested = [visit('h1', 100, 300, mine), visit('h2', 150, 400, mine)];
    expect(violationsOf([...nested, visit('h3', 350, 500)])).toMatchObject([{ holds: ['h2', 'h3'] }]);
    expect(violationsOf([visit('h0', 90, 260), ...nested])).toMatchObject([
      { holds: ['h0', 'h1'] },
      { holds: ['h0', 'h2'] },
    ]);
  });
});

describe('readers and writers', () => {
  const [reads, writes] = [{ kind: 'read' }, { kind: 'write' }] as const;

  it('readers may hold together', () => {
    expect(violationsOf([visit('r1', 100, 300, reads), visit('r2', 200, 400, reads)])).toEqual([]);
  });

  it('a writer may not be granted beside readers, nor a reader beside a writer', () => {
    const readers = [visit('r1', 100, 500, reads), visit('r2', 150, 200, reads)];
    expect(violationsOf([...readers, visit('w1', 300, 400, writes)])).toMatchObject([
      { holds: ['r1', 'w1'] },
    ]);
    expect(violationsOf([visit('w1', 100, 300, writes), visit('r1', 200, 400, reads)])).toMatchObject([
      { kind: 'overlap', holds: ['w1', 'r1'] },
    ]);
  });

  it('a writer may read', () => {
    const mine = { party: 'me' };
    expect(
      violationsOf([
        visit('w1', 100, 300, { ...writes, ...mine }),
        visit('r1', 200, 400, { ...reads, ...mine }),
      ]),
    ).toEqual([]);
  });
});

describe('a force', () => {
  const forced = (span: readonly [number, number]) => call('force', span, { proc: 'admin' });
  const told = [...grant('h1', [99, 100]), lost('h1', 400, 'notOwner')];

  it('ends the hold at its request, before the holder knows', () => {
    expect(kindsOf([told, forced([200, 210]), visit('h2', 220, 300)])).not.toContain('overlap');
    expect(kindsOf([told, forced([200, 210]), visit('h2', 199, 300)])).toContain('overlap');
  });

  it('does not end a hold that was requested after it', () => {
    const later = [...grant('h1', [211, 220]), lost('h1', 400, 'notOwner')];
    expect(kindsOf([forced([200, 210]), later, visit('h2', 230, 300)])).toContain('overlap');
  });

  it('does not end a hold that was granted after it and released', () => {
    const waited = [...grant('h1', [150, 220]), ...release('h1', [400, 401])];
    expect(kindsOf([forced([200, 210]), waited, visit('h2', 230, 300)])).toContain('overlap');
    const toldOf = [...grant('h1', [150, 220]), lost('h1', 400, 'notOwner')];
    expect(kindsOf([forced([200, 210]), toldOf, visit('h2', 230, 300)])).not.toContain('overlap');
  });

  it('ends a hold that was passed on inside a process since', () => {
    const mine = { owner: 'o' };
    const first = visit('h1', 100, 215, mine);
    const passedOn = visit('h2', 216, 225, mine);
    expect(kindsOf([first, passedOn, forced([200, 210]), visit('h3', 212, 300)])).toEqual([]);
  });
});
