/** Who waits with whom, and who was there before a look. */
import { describe, expect, it } from 'vitest';
import { type Crowd, Crowds } from '../../src/primitives/crowd.ts';
import { gate } from '../behaviour/support/moments.ts';

describe('Crowds', () => {
  it('has a crowd while somebody is in it, however they leave', async () => {
    const crowds = new Crowds();
    const [first, second] = [gate(), gate()];
    const seen: Crowd[] = [];
    const one = crowds.among('a', async (crowd) => {
      seen.push(crowd);
      await first.opened;
      return 'one';
    });
    const two = crowds.among('a', async (crowd) => {
      seen.push(crowd);
      await second.opened;
      throw new Error('two');
    });
    expect(seen[0]).toBe(seen[1]);
    expect(crowds.has('a')).toBe(true);
    expect(crowds.has('b')).toBe(false);
    first.open();
    expect(await one).toBe('one');
    expect(crowds.has('a')).toBe(true);
    second.open();
    await expect(two).rejects.toThrow('two');
    expect(crowds.has('a')).toBe(false);
  });

  it('serves those who had come before the look, and nobody after', async () => {
    const crowds = new Crowds();
    await crowds.among('a', async (crowd) => {
      const first = crowd.came;
      await crowds.among('a', async () => {
        const second = crowd.came;
        const look = crowd.came;
        await crowds.among('a', async () => {
          const third = crowd.came;
          crowd.serve(look);
          crowd.serve(first);
          expect([first, second, third].map((number) => crowd.isServed(number))).toEqual([true, true, false]);
        });
      });
    });
  });
});
