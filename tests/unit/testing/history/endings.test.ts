/** Endings: calls that never settle, holds that never end, things left at the end, owners that come again. */
import { describe, expect, it } from 'vitest';
import {
  call,
  died,
  event,
  fault,
  grant,
  kindsOf,
  lost,
  release,
  violationsOf,
  visit,
} from './support/scribe.ts';

describe('a call without an outcome', () => {
  it.each(['acquire', 'release', 'force', 'countDown', 'await', 'write'] as const)('hangs: %s', (op) => {
    const asked = event(op, 'invoke', 100, { call: 1, proc: 'a' });
    expect(violationsOf([asked])).toMatchObject([{ kind: 'hung', procs: ['a'], key: 'k' }]);
    expect(kindsOf([asked, event(op, 'info', 900, { call: 1, proc: 'a' })])).toEqual([]);
    expect(kindsOf([asked, died('a', 200)])).toEqual([]);
    expect(kindsOf([asked, died('b', 200)])).toEqual(['hung']);
  });
});

describe('a hold without an end', () => {
  it('leaks, unless its process died', () => {
    expect(violationsOf([grant('h1', [99, 100])])).toMatchObject([{ kind: 'leak', holds: ['h1'] }]);
    expect(kindsOf([grant('h1', [99, 100]), died('p', 200)])).toEqual([]);
    expect(kindsOf([grant('h1', [99, 100]), lost('h1', 200, 'closed')])).toEqual([]);
    expect(kindsOf([grant('h1', [99, 100]), release('h1', [200, 210], {}, 'info')])).toEqual([]);
    expect(kindsOf([grant('h1', [99, 100], { kind: 'semaphore' })])).toEqual(['leak']);
  });

  it('does not exist for a rate limiter', () => {
    expect(kindsOf([call('acquire', [99, 100], { kind: 'rate' })])).toEqual([]);
  });
});

describe('leftovers at the end', () => {
  it('are leaks', () => {
    const witness = { proc: 'witness', worker: '' };
    const found = violationsOf([event('left', 'info', 900, { ...witness, what: 'a key without expiry: k' })]);
    expect(found).toMatchObject([{ kind: 'leak', text: 'Left over at the end: a key without expiry: k' }]);
    expect(kindsOf([event('left', 'info', 900, { ...witness, permits: 3 })])).toEqual([]);
  });
});

describe('an owner', () => {
  const mine = { owner: 'c:1' };
  const other = visit('h2', 300, 400, { owner: 'c:2' });

  it('may not return after another owner', () => {
    expect(violationsOf([visit('h1', 100, 200, mine), other, visit('h3', 500, 600, mine)])).toMatchObject([
      { kind: 'owner-reused', holds: ['h1', 'h3'] },
    ]);
    const elsewhere = visit('h3', 500, 600, { ...mine, key: 'other' });
    expect(kindsOf([visit('h1', 100, 200, mine), other, elsewhere])).toEqual([]);
  });

  it('may be shared by re-entries, and by holds passed on inside a process', () => {
    expect(kindsOf([visit('h1', 100, 200, mine), visit('h3', 201, 290, mine), other])).toEqual([]);
    const nested = [
      visit('h1', 100, 600, { ...mine, party: 'me' }),
      visit('h3', 500, 550, { ...mine, party: 'me' }),
    ];
    expect(kindsOf(nested)).toEqual([]);
  });

  it('may re-enter though another owner was granted beside it', () => {
    const nested = [
      visit('h1', 100, 600, { ...mine, party: 'me' }),
      visit('h3', 500, 550, { ...mine, party: 'me' }),
    ];
    const flush = fault('flush', [250, 251], { removesHolds: true });
    expect(kindsOf([...nested, flush, other])).toEqual(['overlap']);
  });

  it('belongs to one process only', () => {
    expect(kindsOf([visit('h1', 100, 200, mine), visit('h3', 300, 400, { ...mine, proc: 'q' })])).toEqual([
      'owner-reused',
    ]);
  });
});
