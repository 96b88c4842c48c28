/** Fair locks: a waiter that is overtaken is found; one that gave up its place is not. */
import { describe, expect, it } from 'vitest';
import {
  type About,
  call,
  event,
  fault,
  grant,
  kindsOf,
  release,
  stalled,
  violationsOf,
} from './support/scribe.ts';

const waits = (hold: string, [invokedMs, grantedMs]: readonly [number, number], about: About = {}) => [
  ...grant(hold, [invokedMs, grantedMs], { kind: 'fair', owner: `o-${hold}`, proc: `p-${hold}`, ...about }),
  ...release(hold, [grantedMs + 10, grantedMs + 11], { proc: `p-${hold}` }),
];
const queue = (atMs: number, ...holds: string[]) =>
  event('queue', 'info', atMs, { proc: 'witness', worker: '', queue: holds.map((hold) => `o-${hold}`) });

const x = waits('x', [100, 5_400]);
const y = waits('y', [110, 5_300]);
const listed = queue(5_200, 'x', 'y');

describe('a waiter that was ahead', () => {
  it('is granted first', () => {
    expect(kindsOf([x, y, queue(5_200, 'y', 'x')])).toEqual([]);
    expect(violationsOf([x, y, listed])).toMatchObject([{ kind: 'out-of-order', holds: ['x', 'y'] }]);
  });

  it('is reported once, however often it was listed, and with the one before it', () => {
    const z = waits('z', [120, 5_350]);
    const found = violationsOf([x, y, z, queue(5_100, 'x', 'y', 'z'), queue(5_200, 'x', 'y', 'z')]);
    expect(found.map(({ holds }) => holds)).toEqual([
      ['x', 'y'],
      ['x', 'z'],
    ]);
  });

  it('may have given up, and joined again as another owner', () => {
    const gaveUp = call('acquire', [100, 5_250], { kind: 'fair', proc: 'p-x' }, 'fail');
    const again = waits('x2', [5_260, 5_400], { proc: 'p-x' });
    expect(kindsOf([gaveUp, again, y, listed])).toEqual([]);
  });

  it('may have lost its place in a fault, or while it stood still', () => {
    expect(kindsOf([x, y, listed, fault('cut', [1_000, 2_100])])).toEqual(['out-of-order']);
    expect(kindsOf([x, y, listed, fault('cut', [1_000, 2_300])])).toEqual([]);
    expect(kindsOf([x, y, listed, fault('cut', [5_250, 5_260])])).toEqual([]);
    expect(kindsOf([x, y, listed, stalled('p-x', 4_000, 5_000)])).toEqual([]);
    expect(kindsOf([x, y, listed, stalled('p-y', 4_000, 5_000)])).toEqual(['out-of-order']);
    expect(kindsOf([x, y, listed, stalled('p-x', 5_310, 5_390)])).toEqual(['out-of-order']);
  });

  it('may have been granted and forced away before it knew', () => {
    expect(kindsOf([x, y, listed, call('force', [5_250, 5_260], { proc: 'admin' })])).toEqual([]);
  });

  it('that re-enters later has been granted before', () => {
    const first = grant('x', [100, 5_250], { kind: 'fair', owner: 'o-x', proc: 'p-x', party: 'me' });
    const again = grant('x2', [5_255, 5_256], { kind: 'fair', owner: 'o-x', proc: 'p-x', party: 'me' });
    const ends = ['x2', 'x'].map((hold) => release(hold, [5_260, 5_261], { proc: 'p-x' }));
    expect(kindsOf([first, again, ...ends, y, listed])).toEqual([]);
  });
});
