/** The search: finds the order where there is one, and says so where there is none. */
import { describe, expect, it } from 'vitest';
import { type Operation, search } from '../../../../src/testing/history/linearizability.ts';
import {
  type Entry,
  fenced,
  type Model,
  mutex,
  readWrite,
  reentrant,
  reentrantFenced,
  semaphore,
} from '../../../../src/testing/history/models.ts';

const entry = (hold: string, about: Partial<Entry> = {}): Entry => ({
  hold,
  party: hold,
  side: 'write',
  permits: 1,
  token: undefined,
  ...about,
});

type Span = readonly [number, number];
const required = ([fromNs, toNs]: Span) => ({ fromNs, toNs, isOptional: false });
const optional = (fromNs: number) => ({ fromNs, toNs: Number.POSITIVE_INFINITY, isOptional: true });

const enter = (hold: string, span: Span, about: Partial<Entry> = {}): Operation => ({
  effect: { does: 'enter', entry: entry(hold, about) },
  ...required(span),
});
const leave = (hold: string, span: Span): Operation => ({
  effect: { does: 'leave', hold },
  ...required(span),
});
const refused = (hold: string, span: Span, about: Partial<Entry> = {}): Operation => ({
  effect: { does: 'find taken', entry: entry(hold, about) },
  ...required(span),
});
const mayEnter = (hold: string, fromNs: number): Operation => ({
  effect: { does: 'enter', entry: entry(hold) },
  ...optional(fromNs),
});
const mayLeave = (hold: string, fromNs: number): Operation => ({
  effect: { does: 'leave', hold },
  ...optional(fromNs),
});

const verdict = (model: Model, ...operations: Operation[]) => search(model, operations, 100_000).verdict;

describe('a mutex', () => {
  it('admits one holder after the other', () => {
    const one = [enter('a', [0, 10]), leave('a', [20, 30])];
    expect(verdict(mutex, ...one, enter('b', [25, 40]))).toBe('valid');
    expect(verdict(mutex, ...one, enter('b', [5, 19]))).toBe('invalid');
  });

  it('is found taken only while it may be taken', () => {
    const one = [enter('a', [0, 10]), leave('a', [20, 30])];
    expect(verdict(mutex, ...one, refused('b', [12, 14]))).toBe('valid');
    expect(verdict(mutex, ...one, refused('b', [29, 35]))).toBe('valid');
    expect(verdict(mutex, ...one, refused('b', [31, 35]))).toBe('invalid');
    expect(verdict(mutex, refused('b', [31, 35]))).toBe('invalid');
  });

  it('may be taken by a call in doubt, from its request on', () => {
    expect(verdict(mutex, mayEnter('z', 10), refused('b', [31, 35]))).toBe('valid');
    expect(verdict(mutex, mayEnter('z', 36), refused('b', [31, 35]))).toBe('invalid');
    const after = [refused('b', [31, 35]), enter('c', [40, 50])];
    expect(verdict(mutex, mayEnter('z', 10), ...after)).toBe('invalid');
    expect(verdict(mutex, mayEnter('z', 10), mayLeave('z', 10), ...after)).toBe('valid');
  });

  it('may become free when a lease ends, and not before', () => {
    const held = enter('a', [0, 10]);
    expect(verdict(mutex, held, mayLeave('a', 30), enter('b', [20, 40]))).toBe('valid');
    expect(verdict(mutex, held, mayLeave('a', 41), enter('b', [20, 40]))).toBe('invalid');
    expect(verdict(mutex, held, mayLeave('a', 30), refused('b', [90, 91]))).toBe('valid');
  });

  it('is released by its holder only', () => {
    expect(verdict(mutex, leave('a', [0, 10]))).toBe('invalid');
    expect(verdict(mutex, enter('a', [0, 1]), leave('a', [5, 10]), leave('a', [11, 12]))).toBe('invalid');
  });
});

describe('other locks', () => {
  const mine = { party: 'me' };

  it('a reentrant lock admits its party again', () => {
    const nested = [enter('a', [0, 1], mine), enter('b', [2, 3], mine), leave('b', [4, 5])];
    expect(verdict(reentrant, ...nested)).toBe('valid');
    expect(verdict(mutex, ...nested)).toBe('invalid');
    expect(verdict(reentrant, ...nested, enter('c', [6, 7]))).toBe('invalid');
    expect(verdict(reentrant, ...nested, refused('c', [6, 7], mine))).toBe('invalid');
  });

  it('a fenced lock grants rising tokens', () => {
    const first = [enter('a', [0, 1], { token: 7 }), leave('a', [2, 3])];
    expect(verdict(fenced, ...first, enter('b', [4, 5], { token: 8 }))).toBe('valid');
    expect(verdict(fenced, ...first, enter('b', [4, 5], { token: 7 }))).toBe('invalid');
  });

  it('a reentrant fenced lock grants its party the same token while it is held', () => {
    const first = enter('a', [0, 1], { ...mine, token: 7 });
    expect(verdict(reentrantFenced, first, enter('b', [4, 5], { ...mine, token: 7 }))).toBe('valid');
    expect(verdict(reentrantFenced, first, enter('b', [4, 5], { ...mine, token: 8 }))).toBe('invalid');
    const again = [first, leave('a', [2, 3])];
    expect(verdict(reentrantFenced, ...again, enter('b', [4, 5], { ...mine, token: 7 }))).toBe('invalid');
    expect(verdict(reentrantFenced, ...again, enter('b', [4, 5], { ...mine, token: 8 }))).toBe('valid');
  });

  it('a semaphore has a fixed number of permits', () => {
    const two = [enter('a', [0, 1]), enter('b', [2, 3])];
    expect(verdict(semaphore(2), ...two)).toBe('valid');
    expect(verdict(semaphore(2), ...two, enter('c', [4, 5]))).toBe('invalid');
    expect(verdict(semaphore(3), ...two, enter('c', [4, 5], { permits: 2 }))).toBe('invalid');
    expect(verdict(semaphore(3), ...two, refused('c', [4, 5], { permits: 2 }))).toBe('valid');
    expect(verdict(semaphore(3), ...two, refused('c', [4, 5]))).toBe('invalid');
  });

  it('a read/write lock has readers, or one writer that may read', () => {
    const [reads, writes] = [{ side: 'read' }, { side: 'write' }] as const;
    const readers = [enter('a', [0, 1], reads), enter('b', [2, 3], reads)];
    expect(verdict(readWrite, ...readers)).toBe('valid');
    expect(verdict(readWrite, ...readers, enter('w', [4, 5], writes))).toBe('invalid');
    const writer = enter('w', [0, 1], { ...writes, ...mine });
    expect(verdict(readWrite, writer, enter('r', [2, 3], { ...reads, ...mine }))).toBe('valid');
    expect(verdict(readWrite, writer, enter('r', [2, 3], reads))).toBe('invalid');
    expect(verdict(readWrite, writer, enter('w2', [2, 3], { ...writes, ...mine }))).toBe('valid');
    expect(verdict(readWrite, ...readers.slice(0, 1), enter('w', [2, 3], { ...writes, party: 'a' }))).toBe(
      'invalid',
    );
  });
});

describe('a search', () => {
  /** So many that wait at the same time, one of which comes in twice. */
  const sharedLook = (count: number): Operation[] =>
    Array.from({ length: count }, (_, i) => [
      enter(`h${i}`, [0, 1_000]),
      { effect: { does: 'leave', hold: `h${i}` } as const, ...required([1, 1_000]) },
    ]).flat();

  it('finds its way through 60 operations of one time', () => {
    expect(verdict(mutex, ...sharedLook(30))).toBe('valid');
  });

  it('is given up after its steps', () => {
    const impossible = [...sharedLook(20), enter('x', [0, 1_000]), enter('y', [0, 1_000])];
    expect(search(mutex, impossible, 1_000)).toEqual({ verdict: 'unknown', steps: 1_001 });
  });

  it('remembers the tried states', () => {
    const impossible = [...sharedLook(8), enter('x', [0, 1_000]), enter('y', [0, 1_000])];
    const { verdict: found, steps } = search(mutex, impossible, 100_000);
    expect(found).toBe('invalid');
    expect(steps).toBeLessThan(10_000);
  });
});
