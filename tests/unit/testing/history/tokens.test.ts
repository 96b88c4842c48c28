/** Fencing tokens: one that falls or stays is found, one that may do so is not. */
import { describe, expect, it } from 'vitest';
import { call, fault, grant, kindsOf, lost, release, violationsOf, visit } from './support/scribe.ts';

const kind = 'fenced' as const;
const fenced = (hold: string, fromMs: number, toMs: number, token: number, about = {}) =>
  visit(hold, fromMs, toMs, { kind, token, ...about });

describe('tokens', () => {
  it('rise from grant to grant', () => {
    expect(violationsOf([fenced('h1', 100, 200, 7), fenced('h2', 300, 400, 8)])).toEqual([]);
    for (const token of [6, 7]) {
      expect(violationsOf([fenced('h1', 100, 200, 7), fenced('h2', 300, 400, token)])).toMatchObject([
        { kind: 'token-fell', holds: ['h1', 'h2'] },
      ]);
    }
  });

  it('rise for a waiter that had asked before, too', () => {
    const waited = [...grant('h2', [50, 300], { kind, token: 6 }), ...release('h2', [400, 401])];
    expect(kindsOf([fenced('h1', 100, 200, 7), waited])).toEqual(['token-fell']);
  });

  it('need not rise if the server may have lost the hold before its holder learned of it', () => {
    const waited = (invokedMs: number) => [
      ...grant('h2', [invokedMs, 300], { kind, token: 6 }),
      ...release('h2', [400, 401], {}, 'fail'),
    ];
    const flush = fault('flush', [80, 81], { removesHolds: true });
    expect(kindsOf([fenced('h1', 100, 200, 7), flush, waited(50)])).toEqual([]);
    expect(kindsOf([fenced('h1', 100, 200, 7), flush, waited(250)])).toEqual(['token-fell']);
    const force = call('force', [80, 81], { proc: 'admin' });
    expect(kindsOf([fenced('h1', 100, 200, 7), force, waited(50)])).toEqual([]);
    expect(kindsOf([fenced('h1', 100, 200, 7), fault('slow', [80, 81]), waited(50)])).toEqual(['token-fell']);
  });

  it('that fall are found among others that rise', () => {
    const tokens = [1, 5, 3, 6, 4].map((token, i) => fenced(`h${i}`, 100 * i + 10, 100 * i + 50, token));
    expect(violationsOf(tokens).map(({ holds }) => holds)).toEqual([
      ['h1', 'h2'],
      ['h3', 'h4'],
    ]);
  });
});

describe('re-entry', () => {
  const mine = { party: 'me' };

  it('has the same token, at any depth', () => {
    const nested = (token: number) => [
      fenced('h1', 100, 900, 7, mine),
      fenced('h2', 200, 500, 7, mine),
      fenced('h3', 300, 400, 7, mine),
      fenced('h4', 600, 700, token, mine),
    ];
    expect(kindsOf(nested(7))).toEqual([]);
    expect(violationsOf(nested(8))).toMatchObject([{ kind: 'token-changed', holds: ['h1', 'h4'] }]);
  });

  it('of a party that had left is a new hold: its token rises', () => {
    const again = (token: number) => [fenced('h1', 100, 200, 7, mine), fenced('h2', 300, 400, token, mine)];
    expect(kindsOf(again(8))).toEqual([]);
    expect(kindsOf(again(7))).toEqual(['token-fell']);
  });

  it('of a party that had lost the lock is a new hold too', () => {
    const first = [
      ...grant('h1', [99, 100], { kind, token: 7, ...mine, deadlineMs: 200 }),
      lost('h1', 200, 'expired'),
    ];
    expect(kindsOf([first, fenced('h2', 300, 400, 8, mine)])).toEqual([]);
  });
});

describe('a fence', () => {
  const write = (span: readonly [number, number], token: number, type: 'ok' | 'fail' = 'ok') =>
    call('write', span, { token }, type);

  it('lets no older token pass', () => {
    expect(kindsOf([write([100, 110], 7), write([120, 130], 8)])).toEqual([]);
    expect(kindsOf([write([100, 110], 8), write([120, 130], 8)])).toEqual([]);
    expect(kindsOf([write([100, 110], 8), write([120, 130], 7)])).toEqual(['token-fell']);
    expect(kindsOf([write([100, 110], 8), write([120, 130], 7, 'fail')])).toEqual([]);
  });

  it('may take writes of the same time in any order', () => {
    expect(kindsOf([write([100, 125], 8), write([120, 130], 7)])).toEqual([]);
  });
});
