/** Fencing: tokens that rise, and guards that refuse the late write of a holder that stalled. */
import { expect, it } from 'vitest';
import { ClosedError, type FencedHold, OptionError, ReentryError, StaleTokenError } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough } from './support/context.ts';

function describeFencedLock(context: Context): void {
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

  it('shows the last token to every client, 0 before the first', async () => {
    const name = randomName();
    const lock = (await context.client()).getFencedLock(name);
    expect(await lock.getToken()).toBe(0);
    const hold = await lock.lock();
    expect(await (await context.client()).getFencedLock(name).getToken()).toBe(hold.token);
    await hold.unlock();
    expect(await lock.getToken()).toBe(hold.token);
  });

  it('keeps rising when the server has lost the last token', async () => {
    const raw = await context.raw();
    const name = randomName();
    const lock = (await context.client()).getFencedLock(name);
    const before = await lock.withLock(({ token }) => token);
    await raw.command('DEL', `redisson_lock_token:{${name}}`);
    expect(await lock.withLock(({ token }) => token)).toBeGreaterThan(before);
  });

  it('shares its keys with the plain lock and with a Redisson client that counts tokens by hand', async () => {
    const raw = await context.raw();
    const name = randomName();
    const client = await context.client();
    const lock = client.getFencedLock(name);
    const first = await lock.withLock(async (hold) => {
      const plain = (await context.client()).getLock(name);
      expect(await plain.tryLock()).toBe(null);
      expect(await plain.isLocked()).toBe(true);
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

  it('forgets the token after its retention only if a retention is set', async () => {
    const raw = await context.raw();
    const client = await context.client();
    const [kept, forgotten] = [randomName(), randomName()];
    await client.getFencedLock(kept).withLock(() => {});
    await client.getFencedLock(forgotten, { tokenRetentionMs: 60_000 }).withLock(() => {});
    expect(await raw.command('PTTL', `redisson_lock_token:{${kept}}`)).toBe(-1);
    expect(await raw.command('PTTL', `redisson_lock_token:{${forgotten}}`)).toBeGreaterThan(0);
    expect(() => client.getFencedLock(kept, { tokenRetentionMs: 1 })).toThrow(OptionError);
  });

  it('refuses re-entry if its owner holds the key through a plain lock, which has no token', async () => {
    const raw = await context.raw();
    const client = await context.client();
    const name = randomName();
    const [plain, fenced] = [client.getLock(name), client.getFencedLock(name)];
    const owner = client.owner();
    const hold = await plain.lock({ owner });
    await expect(fenced.lock({ owner })).rejects.toThrow(ReentryError);
    await expect(fenced.tryLock({ owner })).rejects.toThrow(ReentryError);
    expect(await raw.command('HGETALL', name)).toEqual([hold.owner, '1']);
    expect(await hold.unlock()).toBe(true);

    const seen: string[] = [];
    const notes = { onAcquire: () => seen.push('acquired') };
    await plain.withLock(async () => {
      const inner = fenced.withLock(() => seen.push('worked'), notes);
      await expect(inner).rejects.toThrow(ReentryError);
      expect(await plain.getHoldCount()).toBe(1);
    });
    expect(seen).toEqual([]);
    expect(await raw.command('EXISTS', name)).toBe(0);
  });

  it('a hold of a lock without tokens has an undefined token', async () => {
    const client = await context.client();
    const locks = [client.getLock(randomName()), client.getReadWriteLock(randomName()).writeLock()];
    for (const lock of locks) {
      await using hold = await lock.lock();
      expect((hold as Partial<FencedHold>).token).toBeUndefined();
    }
  });

  it('can be re-entered through a plain lock by its owner', async () => {
    const client = await context.client();
    const name = randomName();
    await client.getFencedLock(name).withLock(async ({ token }) => {
      await client.getLock(name).withLock(async () => {
        expect(await client.getLock(name).getHoldCount()).toBe(2);
        await client.getFencedLock(name).withLock((inner) => expect(inner.token).toBe(token));
      });
    });
  });

  it('keeps its token readable after the hold has ended', async () => {
    const lock = (await context.client()).getFencedLock(randomName());
    const hold = await lock.lock();
    const { token } = hold;
    await hold.unlock();
    expect(hold.token).toBe(token);
  });

  it('passes the token to the hooks of withLock, and rejects with their errors', async () => {
    const lock = (await context.client()).getFencedLock(randomName());
    const tokens: number[] = [];
    const note = ({ token }: { token: number }) => tokens.push(token);
    await lock.withLock(note, { onAcquire: note, onRelease: note });
    expect(tokens).toEqual([tokens[0], tokens[0], tokens[0]]);
    expect(tokens[0]).toBe(await lock.getToken());
    const refused = new Error('not now');
    const work = () => tokens.push(0);
    const onAcquire = () => Promise.reject(refused);
    await expect(lock.withLock(work, { onAcquire })).rejects.toBe(refused);
    expect(tokens).toHaveLength(3);
    expect(await lock.isLocked()).toBe(false);
  });

  it('lock({ leaseMs }) sets that lease, and tryLock() attempts once', async () => {
    const raw = await context.raw();
    const name = randomName();
    const hold = await (await context.client()).getFencedLock(name).lock({ leaseMs: 200_000 });
    const remainingMs = Number(await raw.command('PTTL', name));
    expect(remainingMs).toBeGreaterThan(150_000);
    expect(remainingMs).toBeLessThanOrEqual(200_000);
    const rival = (await context.client()).getFencedLock(name);
    expect(await rival.tryLock()).toBe(null);
    expect(await rival.getToken()).toBe(hold.token);
  });

  it('in a multi lock with a lease, the lease is the lock’s and never the token’s', async () => {
    const raw = await context.raw();
    const client = await context.client();
    const [fenced, plain] = [client.getFencedLock(randomName()), client.getLock(randomName())];
    const both = client.getMultiLock(fenced, plain);
    const tokens: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      await both.withLock(
        async () => {
          expect(await raw.command('PTTL', fenced.name)).toBeGreaterThan(0);
          expect(await raw.command('PTTL', `redisson_lock_token:{${fenced.name}}`)).toBe(-1);
          // The hold of many locks has no token; who re-enters one of them is told.
          await fenced.withLock(({ token }) => tokens.push(token));
        },
        { leaseMs: 20_000 },
      );
    }
    expect(tokens[1]).toBeGreaterThan(tokens[0] as number);
  });

  it("uses Redisson's keys, also for names with braces", async () => {
    const raw = await context.raw();
    const client = await context.client();
    const random = randomName();
    for (const [name, tokenKey, registerKey] of [
      [random, `redisson_lock_token:{${random}}`, `holdfast_register:{${random}}`],
      [`{${random}}:a`, `redisson_lock_token:{${random}}:a`, `holdfast_register:{${random}}:a`],
    ] as const) {
      const hold = await client.getFencedLock(name).lock();
      await client.getFencedRegister(name).write('value', hold.token);
      expect(await raw.command('HGETALL', name)).toEqual([hold.owner, '1']);
      expect(await raw.command('GET', tokenKey)).toBe(String(hold.token));
      expect(await raw.command('HGET', registerKey, 'value')).toBe('value');
      await hold.unlock();
    }
  });

  it('a register refuses the late write of a holder that slept past its lease', async () => {
    const raw = await context.raw();
    const name = randomName();
    const [sleeper, next] = [await context.client(), await context.client()];
    const late = await sleeper.getFencedLock(name).lock({ leaseMs: 600 });
    await eventually(async () => expect(await raw.command('EXISTS', name)).toBe(0));
    const register = name;
    await next.getFencedLock(name).withLock(async ({ token }) => {
      await next.getFencedRegister(register).write('of the next', token);
    });
    const writing = sleeper.getFencedRegister(register).write('of the sleeper', late.token);
    await expect(writing).rejects.toThrow(StaleTokenError);
    expect(await next.getFencedRegister(register).read()).toMatchObject({ value: 'of the next' });
    expect(await late.unlock()).toBe(false);
  });

  it('a register that was read with a token refuses older ones before anything is written', async () => {
    const name = randomName();
    const [sleeper, next] = [await context.client(), await context.client()];
    const [late, current] = [
      await sleeper.getFencedLock(name).withLock(({ token }) => token),
      await next.getFencedLock(name).withLock(({ token }) => token),
    ];
    const [ofSleeper, ofNext] = [sleeper.getFencedRegister(name), next.getFencedRegister(name)];
    await ofSleeper.write('5', late);
    expect(await ofSleeper.read(late)).toEqual({ value: '5', token: late });
    expect(await ofNext.read(current)).toEqual({ value: '5', token: late });
    // Computed from what was read, and late: it would be lost under the write of the next.
    await expect(ofSleeper.write('6', late)).rejects.toMatchObject({
      code: 'ERR_STALE_TOKEN',
      token: late,
      newestToken: current,
    });
    await expect(ofSleeper.read(late)).rejects.toThrow(StaleTokenError);
    await ofNext.write('6', current);
    expect(await ofSleeper.read()).toEqual({ value: '6', token: current });
  });

  it('a register accepts the writes of every client that has the token', async () => {
    const name = randomName();
    const [holder, friend] = [await context.client(), await context.client()];
    const token = await holder.getFencedLock(name).withLock((hold) => hold.token);
    for (const value of ['1', '2', '3']) await holder.getFencedRegister(name).write(value, token);
    await friend.getFencedRegister(name).write('of a friend', token);
    expect(await holder.getFencedRegister(name).read()).toEqual({ value: 'of a friend', token });
    await holder.getFencedRegister(name).write('', token);
    expect(await friend.getFencedRegister(name).read()).toEqual({ value: '', token });
  });

  it('a register checks its arguments before anything is sent', async () => {
    const register = (await context.client()).getFencedRegister(randomName());
    expect(await register.read()).toBe(null);
    for (const token of [0, -1, 1.5, Number.NaN, 2 ** 53, '7' as never, null as never]) {
      await expect(register.write('x', token)).rejects.toThrow(OptionError);
      await expect(register.read(token)).rejects.toThrow(OptionError);
    }
    await expect(register.write(7 as never, 1)).rejects.toThrow(OptionError);
    expect(await register.read()).toBe(null);
  });

  it('rejects every call once its client is closed', async () => {
    const client = await context.client();
    const [lock, register] = [client.getFencedLock(randomName()), client.getFencedRegister(randomName())];
    await client.close();
    await expect(lock.getToken()).rejects.toThrow(ClosedError);
    await expect(register.read()).rejects.toThrow(ClosedError);
    await expect(register.write('x', 1)).rejects.toThrow(ClosedError);
    expect(() => client.getFencedRegister('name')).toThrow(ClosedError);
  });
}

describeThrough('fenced lock', describeFencedLock);
