/** The scripts of the fenced lock: tokens that rise, one for each hold, whatever happens to the last one. */
import { describe, expect, it } from 'vitest';
import { fencedLockAcquire, fencedLockLastToken, fencedLockReclaim } from '../../src/scripts/generated.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { describeReclaim, type ReclaimTerms, RUNNING_GRACE_MS } from './support/reclaim.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

const endedOf = (name: string, owner: string) => `redisson_unlock_latch:{${name}}:${owner}`;
const tokenOf = (name: string) => `redisson_lock_token:{${name}}`;

async function lockName(): Promise<string> {
  const name = bench.name();
  // Redisson needs the token to stay: it has no expiry.
  await bench.plant('DEL', tokenOf(name));
  return name;
}

function acquire(name: string, owner: string, options: { leaseMs?: number; retentionMs?: number } = {}) {
  const keys = { lock: name, ended: endedOf(name, owner), token: tokenOf(name) };
  const { leaseMs = 60_000, retentionMs = 0 } = options;
  return bench.run(fencedLockAcquire, keys, { owner, leaseMs, retentionMs });
}

async function held(name: string, owner: string): Promise<number> {
  const reply = await acquire(name, owner);
  if (reply.status !== 'held') throw new Error(`not held but ${reply.status}`);
  return reply.token;
}

async function serverMicros(): Promise<number> {
  const [seconds, micros] = (await bench.command('TIME')) as [string, string];
  return Number(seconds) * 1_000_000 + Number(micros);
}

function reclaimFenced({ name, owner, ended, guard, leaseMs, graceMs }: ReclaimTerms, token = 4_000) {
  const last = tokenOf(name);
  bench.expectImmortal(last);
  const args = { owner, count: 3, token, leaseMs, graceMs, trusted: '' };
  return bench.run(fencedLockReclaim, { lock: name, ended, last, guard }, args);
}

describeReclaim(bench, {
  title: 'fenced-lock/reclaim',
  reclaim: reclaimFenced,
  plantOther: (name) => bench.plant('HSET', name, 'c:2', 1),
  isHeldBy: async (name, owner) => (await bench.hash(name))[owner] === '3',
});

describe('the token of fenced-lock/reclaim', () => {
  const terms = (name: string) => ({
    name,
    owner: 'c:1',
    ended: `redisson_unlock_latch:{${name}}:c:1`,
    guard: `holdfast_guard:{${name}}`,
    leaseMs: 60_000,
    graceMs: RUNNING_GRACE_MS,
  });

  it.each([
    ['is brought back where it is missing', undefined, '4000'],
    ['is brought back where an older one stands', '3999', '4000'],
    ['never replaces a newer one', '4001', '4001'],
  ])('%s', async (_, before, after) => {
    const name = bench.name();
    bench.expectImmortal(`holdfast_guard:{${name}}`);
    if (before !== undefined) await bench.plant('SET', tokenOf(name), before);
    await reclaimFenced(terms(name));
    expect(await bench.command('GET', tokenOf(name))).toBe(after);
  });

  it('keeps the retention of the present token', async () => {
    const name = bench.name();
    bench.expectImmortal(`holdfast_guard:{${name}}`);
    await bench.command('SET', tokenOf(name), '1', 'PX', 70_000);
    await reclaimFenced(terms(name));
    expect(await bench.command('GET', tokenOf(name))).toBe('4000');
    expectRunning(await bench.pttl(tokenOf(name)), 70_000);
  });
});

describe('fenced-lock/acquire', () => {
  it('grants a token not below the clock of the server, and stores it', async () => {
    const name = await lockName();
    const before = await serverMicros();
    const token = await held(name, 'c:1');
    expect(token).toBeGreaterThanOrEqual(before);
    expect(token).toBeLessThanOrEqual(await serverMicros());
    expect(await bench.command('GET', tokenOf(name))).toBe(String(token));
    expect(await bench.pttl(tokenOf(name))).toBe(-1);
    expect(await bench.hash(name)).toEqual({ 'c:1': '1' });
    expectRunning(await bench.pttl(name), 60_000);
  });

  it('continues from a last token that is ahead of the clock', async () => {
    const name = await lockName();
    const ahead = (await serverMicros()) + 3_600_000_000;
    await bench.command('SET', tokenOf(name), ahead);
    expect(await held(name, 'c:1')).toBe(ahead + 1);
    await bench.command('DEL', name);
    expect(await held(name, 'c:2')).toBe(ahead + 2);
  });

  it('rises above the small numbers that Redisson counts with', async () => {
    const name = await lockName();
    await bench.command('SET', tokenOf(name), '7');
    expect(await held(name, 'c:1')).toBeGreaterThan(7);
  });

  it('delivered twice, makes one hold with one token', async () => {
    const name = await lockName();
    const token = await held(name, 'c:1');
    expect(await held(name, 'c:1')).toBe(token);
    expect(await bench.hash(name)).toEqual({ 'c:1': '1' });
    expect(await bench.command('GET', tokenOf(name))).toBe(String(token));
  });

  it('delivered again after the owner entered again: count, lease and token stay', async () => {
    const name = await lockName();
    const token = await held(name, 'c:1');
    await bench.command('HSET', name, 'c:1', 2);
    await bench.command('PEXPIRE', name, 300_000);
    expect(await held(name, 'c:1')).toBe(token);
    expect(await bench.hash(name)).toEqual({ 'c:1': '2' });
    expectRunning(await bench.pttl(name), 300_000);
  });

  it('delivered again when the token is gone: the hold gets a new, higher token', async () => {
    const name = await lockName();
    const token = await held(name, 'c:1');
    await bench.command('DEL', tokenOf(name));
    const again = await held(name, 'c:1');
    expect(again).toBeGreaterThan(token);
    expect(await bench.command('GET', tokenOf(name))).toBe(String(again));
    expect(await bench.hash(name)).toEqual({ 'c:1': '1' });
  });

  it('keeps the token for its retention', async () => {
    const name = await lockName();
    await acquire(name, 'c:1', { retentionMs: 100_000 });
    expectRunning(await bench.pttl(tokenOf(name)), 100_000);
  });

  it('never forgets a token before the clock has passed it', async () => {
    const name = await lockName();
    const hourMs = 3_600_000;
    await bench.command('SET', tokenOf(name), (await serverMicros()) + hourMs * 1_000);
    await acquire(name, 'c:1', { retentionMs: 100_000 });
    expectRunning(await bench.pttl(tokenOf(name)), hourMs + 100_000);
  });

  it('without a retention the token stays forever, also a token that had an expiry', async () => {
    const name = await lockName();
    await acquire(name, 'c:1', { retentionMs: 100_000 });
    await bench.command('DEL', name);
    await held(name, 'c:2');
    expect(await bench.pttl(tokenOf(name))).toBe(-1);
  });

  it('treats a lock without expiry as taken, and grants no token', async () => {
    const name = await lockName();
    await bench.plant('HSET', name, 'java:1', 1);
    expect(await acquire(name, 'c:1')).toEqual({ status: 'busy', remainingMs: -1 });
    expect(await bench.hash(name)).toEqual({ 'java:1': '1' });
    expect(await bench.exists(tokenOf(name))).toBe(false);
  });

  it.each(['9007199254740991', '9223372036854775807', '1e3', '0x10', ' 7', '-7', 'seven', ''])(
    'refuses a last token of "%s", and does not change it',
    async (last) => {
      const name = await lockName();
      await bench.command('SET', tokenOf(name), last);
      await expect(acquire(name, 'c:1')).rejects.toThrow('is not a number that can be increased');
      expect(await bench.exists(name)).toBe(false);
      expect(await bench.command('GET', tokenOf(name))).toBe(last);
    },
  );

  it('grants the largest number that a client can represent', async () => {
    const name = await lockName();
    await bench.command('SET', tokenOf(name), '9007199254740990');
    expect(await held(name, 'c:1')).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('does not change keys that are not a lock or not a token', async () => {
    const [name, other] = [await lockName(), await lockName()];
    await bench.plant('RPUSH', name, 'data');
    await expect(acquire(name, 'c:1')).rejects.toThrow('WRONGTYPE');
    expect(await bench.exists(tokenOf(name))).toBe(false);
    await bench.command('RPUSH', tokenOf(other), 'data');
    await expect(acquire(other, 'c:1')).rejects.toThrow('WRONGTYPE');
    expect(await bench.exists(other)).toBe(false);
  });

  it('grants no token without the lock', async () => {
    const name = await lockName();
    const token = await held(name, 'c:1');
    const reply = await acquire(name, 'c:2');
    if (reply.status !== 'busy') throw new Error(reply.status);
    expectRunning(reply.remainingMs, 60_000);
    expect(await bench.command('GET', tokenOf(name))).toBe(String(token));
  });

  it('refuses an owner whose hold has ended, and grants no token', async () => {
    const name = await lockName();
    await bench.command('SET', endedOf(name, 'c:1'), 'released', 'PX', 30_000);
    expect(await acquire(name, 'c:1')).toEqual({ status: 'ended' });
    expect(await bench.exists(name)).toBe(false);
    expect(await bench.exists(tokenOf(name))).toBe(false);
  });

  it('refuses a lease that is not positive before anything is written', async () => {
    const name = await lockName();
    await expect(acquire(name, 'c:1', { leaseMs: 0 })).rejects.toThrow('of at least 1');
    expect(await bench.exists(name)).toBe(false);
    expect(await bench.exists(tokenOf(name))).toBe(false);
  });
});

describe('fenced-lock/last-token', () => {
  it('answers the last token, and 0 before the first', async () => {
    const name = await lockName();
    const last = () => bench.run(fencedLockLastToken, { token: tokenOf(name) }, {});
    expect(await last()).toEqual({ status: 'token', value: 0 });
    const token = await held(name, 'c:1');
    expect(await last()).toEqual({ status: 'token', value: token });
  });
});

describeWithProcess('fenced-lock/acquire on a full server', () => {
  it('grants neither the lock nor a token', async () => {
    const server = await ownServer();
    const connection = await openRaw(server.host, server.port);
    await connection.command('CONFIG', 'SET', 'maxmemory', '1');
    const keys = { lock: 'full', ended: endedOf('full', 'c:1'), token: tokenOf('full') };
    const args = { owner: 'c:1', leaseMs: 60_000, retentionMs: 0 };
    await expect(bench.run(fencedLockAcquire, keys, args, connection)).rejects.toThrow('OOM');
    expect(await connection.command('KEYS', '*')).toEqual([]);
  });
});

bench.itCoversEveryWordOf('fenced-lock');
