/** Random numbers that come again with their seed. */
import { describe, expect, it } from 'vitest';
import { Random } from '../../../../src/testing/history/random.ts';

const draw = (random: Random, count = 1_000) => Array.from({ length: count }, () => random.next());

describe('seeded random numbers', () => {
  it('are the same for the same seed, and differ for another', () => {
    expect(draw(new Random('a'))).toEqual(draw(new Random('a')));
    expect(draw(new Random('a'))).not.toEqual(draw(new Random('b')));
    expect(draw(new Random('a').fork('x'))).toEqual(draw(new Random('a').fork('x')));
    expect(draw(new Random('a').fork('x'))).not.toEqual(draw(new Random('a').fork('y')));
  });

  it('lie between 0 and 1, spread over all of it', () => {
    const tenths = new Set(draw(new Random(1)).map((number) => Math.floor(number * 10)));
    expect([...tenths].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('pick every item and both ends of a range', () => {
    const random = new Random(2);
    const picked = new Set(Array.from({ length: 200 }, () => random.pick(['a', 'b', 'c'])));
    expect([...picked].sort()).toEqual(['a', 'b', 'c']);
    const integers = new Set(Array.from({ length: 200 }, () => random.integer(3, 5)));
    expect([...integers].sort()).toEqual([3, 4, 5]);
    expect(() => random.pick([])).toThrow('Nothing to pick from');
  });

  it('shuffle without losing or repeating an item', () => {
    const items = Array.from({ length: 50 }, (_, index) => index);
    const shuffled = new Random(3).shuffle(items);
    expect(shuffled).not.toEqual(items);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(items);
  });
});
