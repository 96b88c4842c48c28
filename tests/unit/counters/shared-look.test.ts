/** Who waits with whom, and who was there before a look. */
import { describe, expect, it } from 'vitest';
import { type SharedLook, SharedLooks } from '../../../src/counters/shared-look.ts';
import { gate } from '../../behaviour/support/moments.ts';

describe('SharedLook', () => {
  it('has waiters until the last has left, in whatever way', async () => {
    const sharedLooks = new SharedLooks();
    const [first, second] = [gate(), gate()];
    const seen: SharedLook[] = [];
    const one = sharedLooks.among('a', async (sharedLook) => {
      seen.push(sharedLook);
      await first.opened;
      return 'one';
    });
    const two = sharedLooks.among('a', async (sharedLook) => {
      seen.push(sharedLook);
      await second.opened;
      throw new Error('two');
    });
    expect(seen[0]).toBe(seen[1]);
    first.open();
    expect(await one).toBe('one');
    await sharedLooks.among('a', async (sharedLook) => expect(sharedLook).toBe(seen[0]));
    second.open();
    await expect(two).rejects.toThrow('two');
    await sharedLooks.among('a', async (sharedLook) => expect(sharedLook).not.toBe(seen[0]));
  });

  it('serves waiters that came before the look, and no later ones', async () => {
    const sharedLooks = new SharedLooks();
    await sharedLooks.among('a', async (sharedLook) => {
      const first = sharedLook.came;
      await sharedLooks.among('a', async () => {
        const second = sharedLook.came;
        const look = sharedLook.came;
        await sharedLooks.among('a', async () => {
          const third = sharedLook.came;
          sharedLook.serve(look);
          sharedLook.serve(first);
          expect([first, second, third].map((number) => sharedLook.isServed(number))).toEqual([
            true,
            true,
            false,
          ]);
        });
      });
    });
  });
});
