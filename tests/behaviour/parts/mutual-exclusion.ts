/** One holder at a time: between processes and within one. */
import { describe, expect, it } from 'vitest';
import type { Hold } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import type { Context } from '../support/context.ts';
import { holderOf, type Kind } from '../support/kinds.ts';
import { Room } from '../support/moments.ts';

export function describeMutualExclusion(context: Context, kind: Kind): void {
  describe('mutual exclusion', () => {
    it('admits one process, and the other once the first has released', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const name = randomName();
      const hold = await kind.of(ours, name).lock();
      expect(await kind.of(theirs, name).tryLock()).toBeNull();
      expect(await hold.unlock()).toBe(true);
      const next = (await kind.of(theirs, name).tryLock()) as Hold;
      expect(next.owner).toMatch(new RegExp(`^${theirs.id}:\\d+$`));
      expect(await kind.of(ours, name).tryLock()).toBeNull();
    });

    it('keeps two calls of one process apart, through one lock object or two', async () => {
      const client = await context.client();
      const lock = kind.of(client, randomName());
      const hold = await lock.lock();
      expect(await lock.tryLock()).toBeNull();
      expect(await kind.of(client, lock.name).tryLock()).toBeNull();
      await hold.unlock();
      const next = (await lock.tryLock()) as Hold;
      expect(next.owner).not.toBe(hold.owner);
    });

    it('keeps locks of different names apart', async () => {
      const client = await context.client();
      const name = randomName();
      await kind.of(client, name).lock();
      for (const other of [`${name}x`, name.slice(0, -1), name.toUpperCase(), `{${name}}`, ` ${name}`]) {
        expect(await kind.of(client, other).tryLock(), other).not.toBeNull();
      }
    });

    it('accepts any text as a name', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const id = randomName();
      for (const name of [`${id} ü 漢字 🔒`, `${id}\n\0\t"`, `${id}*?[a]`, id + 'x'.repeat(5_000)]) {
        const hold = await kind.of(client, name).lock();
        expect(await holderOf(raw, kind, name)).toEqual({ owner: hold.owner, count: 1 });
        expect(await kind.of(client, name).tryLock()).toBeNull();
        await hold.unlock();
        expect(await raw.command('EXISTS', name)).toBe(0);
      }
    });

    it('lets no update be lost when three processes of two tasks each count together', async () => {
      const raw = await context.raw();
      const clients = await Promise.all([1, 2, 3].map(() => context.client()));
      const [name, counter] = [randomName(), randomName()];
      const room = new Room();
      const count = async () => {
        const seen = Number(await raw.command('GET', counter));
        await raw.command('SET', counter, seen + 1, 'EX', 60);
      };
      const tasks = [...clients, ...clients].map(async (client, task) => {
        for (let round = 0; round < 10; round += 1) {
          await using _hold = await kind.of(client, name).lock();
          await room.visit(`task ${task}`, count);
        }
      });
      await Promise.all(tasks);
      expect(room.most).toBe(1);
      expect(await raw.command('GET', counter)).toBe('60');
    });
  });
}
