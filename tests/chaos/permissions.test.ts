/** What the user may do is limited, or changes while a lock is held. */
import { describe, expect, it } from 'vitest';
import { DriverError } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import {
  aborted,
  arena,
  expiryOf,
  join,
  leftovers,
  listenTo,
  SLACK_MS,
  subscribersOf,
  timed,
} from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { LAYOUTS } from './support/kinds.ts';
import type { Place } from './support/ways.ts';

/** Makes a user with these rights, and the place where it is. */
async function user(server: TestServer, ...rules: string[]): Promise<Place> {
  await server.command('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', ...rules);
  return { host: server.host, port: server.port, username: 'limited', password: 'secret' };
}

describeWithProcess('access rules', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('no channels: polling and releases without wake-ups, each with one warning', async () => {
      const { server } = await arena();
      const name = randomName();
      const limited = await join(way, await user(server, '~*', '+@all', 'resetchannels'));
      const { warning } = listenTo(limited);
      const holder = await (await join('Holdfast.connect', server)).getLock(name).lock();
      const waiting = timed(limited.getLock(name).lock());
      await eventually(() => expect(warning.map(({ code }) => code)).toEqual(['HOLDFAST_NO_SUBSCRIBE']));
      expect(await holder.unlock()).toBe(true);
      const { value, tookMs } = await waiting;
      expect(tookMs).toBeLessThan(6_000 + SLACK_MS);
      expect(await (value as typeof holder).unlock()).toBe(true);
      expect(await server.command('EXISTS', name)).toBe(0);

      // A second time everything works the same, and nothing is said again.
      const again = await limited.getLock(name).lock();
      expect(await limited.getLock(name).tryLock({ waitMs: 50 })).toBeNull();
      expect(await again.unlock()).toBe(true);
      expect(warning.map(({ code }) => code)).toEqual(['HOLDFAST_NO_SUBSCRIBE', 'HOLDFAST_NO_PUBLISH']);
    });

    it('channels allowed and refused in turns: each refusal warns again, each permission clears the warning', async () => {
      const { server } = await arena();
      const [name, other] = [randomName(), randomName()];
      const limited = await join(way, await user(server, '~*', '+@all', 'resetchannels'));
      const { warning } = listenTo(limited);
      const holder = await join('Holdfast.connect', server);
      for (const held of [name, other]) await holder.getLock(held).lock();
      const allow = (held: string) =>
        server.command('ACL', 'SETUSER', 'limited', `&redisson_lock__channel:{${held}}`);
      const wait = async (held: string) => {
        expect(await limited.getLock(held).tryLock({ waitMs: 50 })).toBeNull();
      };
      // A waiter that has given up before the refusal came does not hear of it.
      await eventually(async () => {
        await wait(name);
        expect(warning.map(({ code }) => code)).toEqual(['HOLDFAST_NO_SUBSCRIBE']);
      });

      // One that was never refused says nothing of the one that was.
      await allow(other);
      const waiting = limited.getLock(other).tryLock({ waitMs: 60_000 });
      const subscribers = () => subscribersOf(server, `redisson_lock__channel:{${other}}`);
      await eventually(async () => expect(await subscribers()).toBe(1));
      expect(await limited.health()).toMatchObject({ problems: [{ code: 'HOLDFAST_NO_SUBSCRIBE' }] });
      expect(await limited.capabilities()).toMatchObject({ pubSub: 'polling' });
      await holder.getLock(other).forceUnlock();
      await waiting;

      await allow(name);
      await eventually(async () => {
        await wait(name);
        expect(await limited.health()).toMatchObject({ status: 'ok', problems: [] });
      });
      expect(await limited.capabilities()).toMatchObject({ pubSub: 'plain' });
      expect(warning).toHaveLength(1);

      await server.command('ACL', 'SETUSER', 'limited', 'resetchannels');
      await eventually(async () => {
        await wait(name);
        expect(warning.map(({ code }) => code)).toEqual(['HOLDFAST_NO_SUBSCRIBE', 'HOLDFAST_NO_SUBSCRIBE']);
      });
    });

    it('publishing allowed and refused in turns: the first refused release after a permission warns', async () => {
      const { server } = await arena();
      const limited = await join(way, await user(server, '~*', '&*', '+@all', '-publish'));
      const { warning } = listenTo(limited);
      const release = async () => {
        expect(await (await limited.getLock(randomName()).lock()).unlock()).toBe(true);
      };
      await limited.capabilities();
      await release();
      expect((await limited.health()).problems).toMatchObject([{ code: 'HOLDFAST_NO_PUBLISH' }]);
      await server.command('ACL', 'SETUSER', 'limited', '+publish');
      expect(await limited.health()).toMatchObject({ status: 'ok', problems: [] });
      warning.length = 0;
      await server.command('ACL', 'SETUSER', 'limited', '-publish');
      await release();
      await release();
      expect(warning.map(({ code }) => code)).toEqual(['HOLDFAST_NO_PUBLISH']);
      await server.command('ACL', 'SETUSER', 'limited', '+publish');
      expect(await limited.health()).toMatchObject({ status: 'ok', problems: [] });
    });

    it("no INFO: the server's facts stay unknown, and locks work", async () => {
      const { server } = await arena();
      const name = randomName();
      const limited = await join(way, await user(server, '~*', '&*', '+@all', '-info'));
      expect(await limited.capabilities()).toMatchObject({
        server: null,
        version: null,
        evictionPolicy: null,
        mayEvictLocks: null,
      });
      const hold = await limited.getLock(name).lock();
      const waiting = limited.getLock(name).lock();
      expect(await hold.unlock()).toBe(true);
      expect(await (await waiting).unlock()).toBe(true);
    });

    it.each(LAYOUTS)(
      'without permission for the keys: $title is refused with a clear error, and nothing is written',
      async (kind) => {
        const { server } = await arena();
        const mine = 'mine:lock';
        const limited = await join(way, await user(server, '~mine:*', '&*', '+@all'));
        // The name is allowed in the second case, the key that remembers its end is not.
        for (const name of [randomName('theirs'), mine]) {
          const { error, tookMs } = await timed(kind.get(limited, name).lock());
          expect(error).toBeInstanceOf(DriverError);
          expect(error).toMatchObject({
            message: expect.stringContaining("the server's access rules forbid the command"),
          });
          expect(tookMs).toBeLessThan(SLACK_MS);
        }
        expect(await leftovers(server)).toEqual(new Map());

        await server.command('ACL', 'SETUSER', 'limited', '~redisson_unlock_latch:{mine:*');
        const hold = await kind.get(limited, mine).lock();
        expect(await hold.unlock()).toBe(true);
      },
    );

    it('permission for the keys withdrawn while held: the signal aborts before another owner can get the lock', async () => {
      const { server } = await arena();
      const name = randomName();
      const limited = await join(way, await user(server, '~*', '&*', '+@all'), { watchdogMs: 3_000 });
      const { atRisk } = listenTo(limited);
      const hold = await limited.getLock(name).lock();
      const told = aborted(hold.signal);
      const expiresAt = await expiryOf(server, name);
      await server.command('ACL', 'SETUSER', 'limited', 'resetkeys');
      const { atWallMs, value } = await told;
      expect(value).toMatchObject({ code: 'ERR_LEASE_LOST' });
      expect(atWallMs).toBeLessThan(expiresAt);
      expect(atRisk).toMatchObject([{ name, owner: hold.owner }]);
      expect(await hold.unlock()).toBe(false);
    });

    it('the user disabled during a hold: the signal aborts, and calls say why', async () => {
      const { server } = await arena();
      const name = randomName();
      const options = { watchdogMs: 3_000, commandTimeoutMs: 500 };
      const limited = await join(way, await user(server, '~*', '&*', '+@all'), options);
      const hold = await limited.getLock(name).lock();
      const told = aborted(hold.signal);
      const expiresAt = await expiryOf(server, name);
      // node-redis sends what is queued behind an AUTH that fails: nobody else may be let in without one.
      await server.command('ACL', 'SETUSER', 'default', 'resetpass', '>other');
      await server.command('ACL', 'SETUSER', 'limited', 'off');
      await server.command('CLIENT', 'KILL', 'USER', 'limited');
      const { atWallMs, value } = await told;
      expect(value).toMatchObject({ code: 'ERR_LEASE_LOST' });
      expect(atWallMs).toBeLessThan(expiresAt);
      const { error, tookMs } = await timed(limited.getLock(name).tryLock());
      expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_(DRIVER|OUTCOME_UNKNOWN)$/) });
      expect(tookMs).toBeLessThan(500 + SLACK_MS);
      expect(await hold.unlock()).toBe(false);
    });
  });
});
