/** Fencing: tokens that rise, and guards that refuse the late write of a holder that stalled. */
import { describe, expect, it } from 'vitest';
import { OptionError, ReentryError, StaleTokenError } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { openShared } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, forbidUnhandledRejections } from './context.ts';

export function describeFencedLock(context: Context): void {
  describe(`fenced lock through ${context.title}`, () => {
    forbidUnhandledRejections();

    it('gives every hold a higher token, across clients', async () => {
      const name = randomName();
      const clients = [await context.client(), await context.client()];
      const tokens: number[] = [];
      for (let i = 0; i < 6; i += 1) {
        const hold = await (clients[i % 2] as (typeof clients)[0]).getFencedLock(name).lock();
        tokens.push(hold.token);
        await hold.unlock();
      }
      expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
    });

    it('gives the same token on re-entry, nested and with an owner', async () => {
      const client = await context.client();
      const lock = client.getFencedLock(randomName());
      await lock.withLock(async (outer) => {
        await lock.withLock((inner) => expect(inner.token).toBe(outer.token));
      });
      const owner = client.owner();
      const [first, second] = [await lock.lock({ owner }), await lock.lock({ owner })];
      expect(second.token).toBe(first.token);
      expect(await lock.getToken()).toBe(first.token);
    });

    it('tells the last token to anybody, 0 before the first', async () => {
      const name = randomName();
      const lock = (await context.client()).getFencedLock(name);
      expect(await lock.getToken()).toBe(0);
      const hold = await lock.lock();
      expect(await (await context.client()).getFencedLock(name).getToken()).toBe(hold.token);
      await hold.unlock();
      expect(await lock.getToken()).toBe(hold.token);
    });

    it('goes on rising when the server has lost the last token', async () => {
      const raw = await openShared();
      const name = randomName();
      const lock = (await context.client()).getFencedLock(name);
      const before = await lock.withLock(({ token }) => token);
      await raw.command('DEL', `redisson_lock_token:{${name}}`);
      expect(await lock.withLock(({ token }) => token)).toBeGreaterThan(before);
    });

    it('shares its keys with the plain lock and with a Redisson client that counts tokens by hand', async () => {
      const raw = await openShared();
      const name = randomName();
      const client = await context.client();
      const lock = client.getFencedLock(name);
      const first = await lock.withLock(async (hold) => {
        expect(await client.getLock(name).tryLock()).toBe(null);
        return hold.token;
      });
      // A Redisson client takes it: INCR of the token, then the hash.
      const theirs = Number(await raw.command('INCR', `redisson_lock_token:{${name}}`));
      expect(theirs).toBe(first + 1);
      await raw.command('HSET', name, 'java:1', 1);
      await raw.command('PEXPIRE', name, 60_000);
      expect(await lock.tryLock()).toBe(null);
      await raw.command('DEL', name);
      expect(await lock.withLock(({ token }) => token)).toBeGreaterThan(theirs);
    });

    it('forgets the token after its retention only when told to', async () => {
      const raw = await openShared();
      const client = await context.client();
      const [kept, forgotten] = [randomName(), randomName()];
      await client.getFencedLock(kept).withLock(() => {});
      await client.getFencedLock(forgotten, { tokenRetentionMs: 60_000 }).withLock(() => {});
      expect(await raw.command('PTTL', `redisson_lock_token:{${kept}}`)).toBe(-1);
      expect(await raw.command('PTTL', `redisson_lock_token:{${forgotten}}`)).toBeGreaterThan(0);
      expect(() => client.getFencedLock(kept, { tokenRetentionMs: 1 })).toThrow(OptionError);
    });

    it('has no token to show when its owner holds it as a plain lock', async () => {
      const client = await context.client();
      const name = randomName();
      const owner = client.owner();
      await client.getLock(name).lock({ owner });
      const hold = await client.getFencedLock(name).lock({ owner });
      expect(() => hold.token).toThrow(ReentryError);
    });

    it('a register refuses the late write of a holder that slept past its lease', async () => {
      const raw = await openShared();
      const name = randomName();
      const [sleeper, next] = [await context.client(), await context.client()];
      const late = await sleeper.getFencedLock(name).lock({ leaseMs: 300 });
      await eventually(async () => expect(await raw.command('EXISTS', name)).toBe(0));
      const register = `${name}:value`;
      await next.getFencedLock(name).withLock(async ({ token }) => {
        await next.getFencedRegister(register).write('of the next', token);
      });
      const writing = sleeper.getFencedRegister(register).write('of the sleeper', late.token);
      await expect(writing).rejects.toThrow(StaleTokenError);
      expect(await next.getFencedRegister(register).read()).toMatchObject({ value: 'of the next' });
      expect(await late.unlock()).toBe(false);
    });

    it('a register checks what it is given before anything is sent', async () => {
      const register = (await context.client()).getFencedRegister(randomName());
      expect(await register.read()).toBe(null);
      for (const token of [0, -1, 1.5, Number.NaN, 2 ** 53]) {
        await expect(register.write('x', token)).rejects.toThrow(OptionError);
      }
      await expect(register.write(7 as never, 1)).rejects.toThrow(OptionError);
      expect(await register.read()).toBe(null);
    });
  });
}
