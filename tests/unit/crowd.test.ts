/** Who waits with whom, and who was there before a look. */
import { describe, expect, it } from 'vitest';
import { type Crowd, Crowds } from '../../src/counters/parallel-first-try.ts';
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
    first.open();
    expect(await one).toBe('one');
    await crowds.among('a', async (crowd) => expect(crowd).toBe(seen[0]));
    second.open();
    await expect(two).rejects.toThrow('two');
    await crowds.among('a', async (crowd) => expect(crowd).not.toBe(seen[0]));
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
