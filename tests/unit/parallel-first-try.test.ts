/** Who waits with whom, and who was there before a look. */
import { describe, expect, it } from 'vitest';
import { type FirstTry, FirstTries } from '../../src/counters/parallel-first-try.ts';
import { gate } from '../behaviour/support/moments.ts';

describe('Crowds', () => {
  it('has a crowd while somebody is in it, however they leave', async () => {
    const firstTries = new FirstTries();
    const [first, second] = [gate(), gate()];
    const seen: FirstTry[] = [];
    const one = firstTries.among('a', async (firstTry) => {
      seen.push(firstTry);
      await first.opened;
      return 'one';
    });
    const two = firstTries.among('a', async (firstTry) => {
      seen.push(firstTry);
      await second.opened;
      throw new Error('two');
    });
    expect(seen[0]).toBe(seen[1]);
    first.open();
    expect(await one).toBe('one');
    await firstTries.among('a', async (firstTry) => expect(firstTry).toBe(seen[0]));
    second.open();
    await expect(two).rejects.toThrow('two');
    await firstTries.among('a', async (firstTry) => expect(firstTry).not.toBe(seen[0]));
  });

  it('serves those who had come before the look, and nobody after', async () => {
    const firstTries = new FirstTries();
    await firstTries.among('a', async (firstTry) => {
      const first = firstTry.came;
      await firstTries.among('a', async () => {
        const second = firstTry.came;
        const look = firstTry.came;
        await firstTries.among('a', async () => {
          const third = firstTry.came;
          firstTry.serve(look);
          firstTry.serve(first);
          expect([first, second, third].map((number) => firstTry.isServed(number))).toEqual([true, true, false]);
        });
      });
    });
  });
});
