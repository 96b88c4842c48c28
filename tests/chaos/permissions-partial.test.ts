/**
 * A user that may do everything but set an expiry: a grant that could not get its lease would lock everybody
 * out forever. What the server refuses half-way must leave nothing behind.
 */
import { describe, expect, it } from 'vitest';
import { DriverError, type Holdfast, type Lock } from '../../src/index.ts';
import { tokenKey, tombstoneKey } from '../../src/keys.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { arena, join, leftovers } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';

interface Kind {
  readonly title: string;
  get(client: Holdfast, name: string): Lock;
}

const KINDS: readonly Kind[] = [
  { title: 'getLock', get: (client, name) => client.getLock(name) },
  { title: 'getFairLock', get: (client, name) => client.getFairLock(name) },
  { title: 'getFencedLock', get: (client, name) => client.getFencedLock(name) },
  { title: 'a read lock', get: (client, name) => client.getReadWriteLock(name).readLock() },
  { title: 'a write lock', get: (client, name) => client.getReadWriteLock(name).writeLock() },
];

describeWithProcess('a user that may not set expiries', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('is refused every kind of lock, leaves nothing, and blocks no other user', async () => {
      const { server } = await arena();
      const rules = ['on', '>secret', '~*', '&*', '+@all', '-pexpire'];
      await server.command('ACL', 'SETUSER', 'limited', 'reset', ...rules);
      const { host, port } = server;
      const limited = await join(way, { host, port, username: 'limited', password: 'secret' });
      const unlimited = await join(way, server);
      for (const kind of KINDS) {
        const name = randomName();
        const error = await kind
          .get(limited, name)
          .lock()
          .catch((reason: unknown) => reason);
        expect(error, kind.title).toBeInstanceOf(DriverError);
        expect(await server.command('EXISTS', name), kind.title).toBe(0);
        for (const [key, leftMs] of await leftovers(server)) {
          // The counter of tokens never goes back and outlives every hold, on purpose.
          if (key === tokenKey(name)) continue;
          // That an attempt is not to be granted any more is remembered for a while.
          expect(key, kind.title).toContain(tombstoneKey(name, ''));
          expect(leftMs, kind.title).toBeGreaterThan(0);
        }

        const hold = await kind.get(unlimited, name).tryLock();
        expect(await hold?.unlock(), kind.title).toBe(true);
        await server.command('FLUSHALL');
      }
    });
  });
});
