/** What semaphores, latches and rate limiters publish. */
import { describe, expect, it } from 'vitest';
import { LABEL, randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { ACQUIRED, BEGUN, connect, hear, OVER, REJECTED, RELEASED } from './support/hearing.ts';

describe('a semaphore', () => {
  it('tells of calls and releases, with the number of permits', async () => {
    const client = await connect();
    const semaphore = client.getSemaphore(randomName(), { permits: 3 });
    const heard = hear(client);
    await semaphore.acquire(2);
    expect(await semaphore.tryAcquire(2)).toBe(false);
    await semaphore.release(2);
    expect(heard.steps()).toEqual([...ACQUIRED, ...ACQUIRED, ...RELEASED]);
    const about = { kind: 'semaphore', name: semaphore.name, permits: 2 };
    expect(heard.of('acquire')).toMatchObject([
      { ...about, outcome: 'granted', attempts: 1, contended: false, owner: undefined },
      { ...about, outcome: 'timeout', attempts: 1, contended: true },
    ]);
    expect(heard.of('release')).toMatchObject([{ ...about, owner: undefined, outcome: 'released' }]);
  });

  it('tells of some work with permits as one hold', async () => {
    const client = await connect();
    const semaphore = client.getSemaphore(randomName(), { permits: 2 });
    const heard = hear(client);
    await semaphore.withPermit(() => expect(heard.steps()).toEqual([...ACQUIRED, ...BEGUN]), { permits: 2 });
    expect(heard.steps()).toEqual([...ACQUIRED, ...BEGUN, ...RELEASED, ...OVER]);
    const [acquire] = heard.of('acquire');
    expect(heard.of('hold')).toEqual([
      {
        clientId: client.id,
        label: LABEL,
        kind: 'semaphore',
        name: semaphore.name,
        owner: undefined,
        token: undefined,
        isMember: false,
        acquire,
        ended: 'released',
        reason: undefined,
        heldMs: expect.any(Number),
      },
    ]);
    expect(heard.of('hold')[0]?.acquire).toBe(acquire);
  });

  it('tells of the end of work that fails, and of work that got no permit', async () => {
    const [client, other] = [await connect(), await connect()];
    const name = randomName();
    const semaphore = client.getSemaphore(name, { permits: 1 });
    const heard = hear(client);
    await expect(
      semaphore.withPermit(() => {
        throw new Error('work');
      }),
    ).rejects.toThrow('work');
    expect(heard.of('hold')).toMatchObject([{ ended: 'released' }]);
    await other.getSemaphore(name).acquire();
    await expect(semaphore.withPermit(() => 1, { waitMs: 0 })).rejects.toMatchObject({
      code: 'ERR_ACQUIRE_TIMEOUT',
    });
    expect(heard.of('hold')).toHaveLength(1);
  });

  it('tells that work lost its permits because the client closed', async () => {
    const client = await connect();
    const semaphore = client.getSemaphore(randomName(), { permits: 1 });
    const heard = hear(client);
    const working = semaphore.withPermit(() => client.close());
    await expect(working).rejects.toMatchObject({ code: 'ERR_CLOSED' });
    expect(heard.of('hold')).toMatchObject([{ ended: 'lost', reason: 'closed' }]);
  });

  it('tells of a semaphore that is gone', async () => {
    const client = await connect();
    const heard = hear(client);
    expect(await client.getSemaphore(randomName()).releaseIfExists()).toBe(false);
    expect(heard.of('release')).toMatchObject([{ outcome: 'lost', permits: 1 }]);
  });

  it('tells of a wait', async () => {
    const client = await connect();
    const semaphore = client.getSemaphore(randomName(), { permits: 1 });
    await semaphore.acquire();
    const heard = hear(client);
    const waiting = semaphore.acquire();
    await semaphore.release();
    await waiting;
    expect(heard.of('acquire')).toMatchObject([{ outcome: 'granted', contended: true }]);
  });
});

describe('a permit-expirable semaphore', () => {
  it('tells of every permit as a hold', async () => {
    const client = await connect();
    const semaphore = client.getPermitExpirableSemaphore(randomName(), { permits: 3 });
    const heard = hear(client);
    const permit = await semaphore.acquire();
    expect(await permit.release()).toBe(true);
    expect(heard.steps()).toEqual([...ACQUIRED, ...BEGUN, ...RELEASED, ...OVER]);
    const about = { kind: 'permitSemaphore', name: semaphore.name };
    expect(heard.of('acquire')).toMatchObject([{ ...about, permits: 1, owner: permit.id }]);
    expect(heard.of('hold')).toMatchObject([{ ...about, owner: permit.id, ended: 'released' }]);
    expect(heard.of('release')).toMatchObject([
      { ...about, owner: permit.id, permits: 1, outcome: 'released' },
    ]);
  });

  it('tells of several permits that are taken and given back together', async () => {
    const client = await connect();
    const semaphore = client.getPermitExpirableSemaphore(randomName(), { permits: 3 });
    const heard = hear(client);
    const permits = await semaphore.acquireMany(2);
    expect(await semaphore.tryRelease(permits.map(({ id }) => id))).toBe(2);
    expect(heard.of('acquire')).toMatchObject([{ permits: 2, owner: undefined }]);
    expect(heard.of('hold').map(({ owner, ended }) => [owner, ended])).toEqual(
      permits.map(({ id }) => [id, 'released']),
    );
    expect(heard.of('release')).toMatchObject([{ permits: 2, owner: undefined, outcome: 'released' }]);
    expect(await semaphore.tryRelease(permits.map(({ id }) => id))).toBe(0);
    expect(heard.of('release')[1]).toMatchObject({ permits: 2, outcome: 'lost' });
  });

  it('tells of a lease that has ended', async () => {
    const client = await connect();
    const semaphore = client.getPermitExpirableSemaphore(randomName(), { permits: 1 });
    const heard = hear(client);
    const permit = await semaphore.acquire({ leaseMs: 150 });
    await eventually(() => expect(heard.of('hold')).toMatchObject([{ ended: 'lost', reason: 'expired' }]));
    expect(heard.of('lost')).toMatchObject([{ owner: permit.id, reason: 'expired' }]);
  });

  it('tells nothing of holding a permit without a lease, but of its release', async () => {
    const client = await connect();
    const semaphore = client.getPermitExpirableSemaphore(randomName(), { permits: 1 });
    const heard = hear(client);
    const permit = await semaphore.acquire({ leaseMs: Number.POSITIVE_INFINITY });
    expect(await semaphore.tryRelease(permit.id)).toBe(true);
    expect(await semaphore.tryRelease(permit.id)).toBe(false);
    expect(heard.steps()).toEqual([...ACQUIRED, ...RELEASED, ...RELEASED]);
    expect(heard.of('release')).toMatchObject([
      { owner: permit.id, outcome: 'released' },
      { owner: permit.id, outcome: 'lost' },
    ]);
  });
});

describe('a latch', () => {
  it('tells of waits, whether it opened or not', async () => {
    const client = await connect();
    const latch = client.getCountDownLatch(randomName());
    await latch.trySetCount(1);
    const heard = hear(client);
    expect(await latch.await({ waitMs: 20 })).toBe(false);
    const waiting = latch.await();
    await latch.countDown();
    expect(await waiting).toBe(true);
    const waits = heard.steps().filter((step) => step !== 'wake' && !step.startsWith('release'));
    expect(waits).toEqual([...ACQUIRED, ...ACQUIRED]);
    const about = { kind: 'latch', name: latch.name, permits: undefined };
    expect(heard.of('acquire')).toMatchObject([
      { ...about, outcome: 'timeout', contended: true },
      { ...about, outcome: 'granted' },
    ]);
  });

  it('tells of every count-down as a release, also of one that found it open', async () => {
    const client = await connect();
    const latch = client.getCountDownLatch(randomName());
    await latch.trySetCount(2);
    const heard = hear(client);
    for (let i = 0; i < 3; i += 1) await latch.countDown();
    expect(heard.steps()).toEqual([...RELEASED, ...RELEASED, ...RELEASED]);
    const about = { kind: 'latch', name: latch.name, owner: undefined, permits: undefined };
    expect(heard.of('release')).toMatchObject([
      { ...about, outcome: 'released' },
      { ...about, outcome: 'released' },
      { ...about, outcome: 'lost' },
    ]);
  });
});

describe('a rate limiter', () => {
  it('tells of calls and of permits that are given back', async () => {
    const client = await connect();
    const limiter = client.getRateLimiter(randomName());
    await limiter.trySetRate({ mode: 'overall', rate: 2, intervalMs: 60_000 });
    const heard = hear(client);
    await limiter.acquire(2);
    expect(await limiter.tryAcquire()).toBe(false);
    expect(await limiter.take()).toMatchObject({ granted: false });
    await limiter.release(2);
    const about = { kind: 'rateLimiter', name: limiter.name };
    expect(heard.of('acquire')).toMatchObject([
      { ...about, permits: 2, outcome: 'granted', attempts: 1 },
      { ...about, permits: 1, outcome: 'timeout', contended: true },
      { ...about, permits: 1, outcome: 'timeout', contended: true },
    ]);
    expect(heard.of('release')).toMatchObject([{ ...about, permits: 2, outcome: 'released' }]);
  });

  it('tells of a call that can never succeed', async () => {
    const client = await connect();
    const limiter = client.getRateLimiter(randomName());
    const heard = hear(client);
    await expect(limiter.acquire()).rejects.toThrow('not initialized');
    expect(heard.steps()).toEqual(REJECTED);
    expect(heard.of('acquire')).toMatchObject([{ outcome: 'failed', attempts: 1 }]);
    expect(heard.of('acquire')[0]?.error).toBeInstanceOf(Error);
  });
});
