/** The script of the guard: when a server can have forgotten holds, and for how long that keeps strangers out. */
import { describe, expect, it } from 'vitest';
import {
  guardCheck,
  guardSettled,
  lockGuardedAcquire,
  lockSettledAcquire,
} from '../../src/scripts/generated.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { ownReplicas } from '../harness/topologies.ts';
import { PAST_GRACE_MS, RUNNING_GRACE_MS, whenSettled } from './support/reclaim.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

function record(): string {
  const guard = bench.name((random) => `holdfast_guard:${random}`);
  bench.expectImmortal(guard);
  return guard;
}

function isSettled(guard: string, on = bench.connection) {
  return bench.run(guardSettled, { guard }, {}, on);
}

function check(guard: string, graceMs: number, { trusted = '', on = bench.connection } = {}) {
  return bench.run(guardCheck, { guard }, { graceMs, trusted }, on);
}

async function replicationId(connection: RawConnection): Promise<string> {
  const info = String(await connection.command('INFO', 'replication'));
  return /master_replid:(\w+)/.exec(info)?.[1] ?? '';
}

async function uptimeMs(connection: RawConnection): Promise<number> {
  const info = String(await connection.command('INFO', 'server'));
  return Number(/uptime_in_seconds:(\d+)/.exec(info)?.[1]) * 1_000;
}

describe('a server that was never promoted', () => {
  it('is settled a grace after its start', async () => {
    const guard = record();
    await whenSettled(bench);
    expect(await isSettled(guard)).toEqual({ status: 'unsettled' });
    expect(await check(guard, PAST_GRACE_MS)).toEqual({ status: 'open' });
    expect(await bench.command('GET', guard)).toBe(`master_replid:${await replicationId(bench.connection)}`);
    expect(await isSettled(guard)).toEqual({ status: 'open' });
  });

  it('keeps new owners out until a grace after its start, plus a second for the rounding of its uptime', async () => {
    const guard = record();
    const reply = await check(guard, RUNNING_GRACE_MS);
    expect(reply).toEqual({
      status: 'grace',
      remainingMs: expect.any(Number),
      server: await replicationId(bench.connection),
    });
    expect(await isSettled(guard)).toEqual({ status: 'unsettled' });
    const leftMs = reply.status === 'grace' ? reply.remainingMs : 0;
    const startedMsAgo = await uptimeMs(bench.connection);
    expect(leftMs).toBeLessThanOrEqual(RUNNING_GRACE_MS);
    expect(leftMs).toBeGreaterThanOrEqual(RUNNING_GRACE_MS + 1_000 - startedMsAgo - 1_000);
  });

  it('continues a grace that was computed before', async () => {
    const guard = record();
    const id = await replicationId(bench.connection);
    const [seconds] = (await bench.command('TIME')) as string[];
    await bench.plant('SET', guard, `${id} ${(Number(seconds) + 30) * 1_000}`);
    const reply = await check(guard, 60_000);
    expect(reply.status === 'grace' && reply.remainingMs).toBeGreaterThan(20_000);
    expect(reply.status === 'grace' && reply.remainingMs).toBeLessThanOrEqual(30_000);
  });

  it('takes over the grace of a server whose slot it got', async () => {
    const guard = record();
    const [seconds] = (await bench.command('TIME')) as string[];
    await bench.plant('SET', guard, `${'ab'.repeat(20)} ${(Number(seconds) + 30) * 1_000}`);
    const reply = await check(guard, 60_000);
    expect(reply.status === 'grace' && reply.remainingMs).toBeGreaterThan(20_000);
  });

  it('never waits longer than one grace, even if its clock was set back', async () => {
    const guard = record();
    const id = await replicationId(bench.connection);
    const [seconds] = (await bench.command('TIME')) as string[];
    await bench.plant('SET', guard, `${id} ${(Number(seconds) + 3_600) * 1_000}`);
    expect(await check(guard, 5_000)).toMatchObject({ status: 'grace', remainingMs: 5_000 });
  });

  it('is not settled while the record names another server', async () => {
    const guard = record();
    await bench.plant('SET', guard, `master_replid:${'ab'.repeat(20)}`);
    expect(await isSettled(guard)).toEqual({ status: 'unsettled' });
  });

  it('refuses a record that is not its own', async () => {
    const guard = record();
    await bench.plant('HSET', guard, 'somebody', 'else');
    await expect(check(guard, 1_000)).rejects.toThrow(/WRONGTYPE/);
    await expect(isSettled(guard)).rejects.toThrow(/WRONGTYPE/);
  });
});

describe('a script behind the guard', () => {
  function acquire(name: string, owner: string, graceMs: number) {
    const guard = `holdfast_guard:{${name}}`;
    bench.expectImmortal(guard);
    const keys = { lock: name, ended: `redisson_unlock_latch:{${name}}:${owner}`, guard };
    return bench.run(lockGuardedAcquire, keys, { owner, leaseMs: 60_000, graceMs, trusted: '' });
  }

  it('grants as usual when the server is settled', async () => {
    await whenSettled(bench);
    const name = bench.name();
    expect(await acquire(name, 'c:1', PAST_GRACE_MS)).toEqual({ status: 'held' });
    expect(await bench.hash(name)).toEqual({ 'c:1': '1' });
    expectRunning(await bench.pttl(name), 60_000);
    expect(await acquire(name, 'c:2', PAST_GRACE_MS)).toMatchObject({ status: 'busy' });
  });

  it('writes nothing but the record while the grace lasts', async () => {
    const name = bench.name();
    expect(await acquire(name, 'c:1', RUNNING_GRACE_MS)).toMatchObject({ status: 'grace' });
    expect(await bench.exists(name)).toBe(false);
    expect(await bench.command('KEYS', `*${name}*`)).toEqual([`holdfast_guard:{${name}}`]);
  });
});

describe('a script that runs only at a settled server', () => {
  const settle = (name: string, owner: string) => {
    const guard = `holdfast_guard:{${name}}`;
    bench.expectImmortal(guard);
    const keys = { lock: name, ended: `redisson_unlock_latch:{${name}}:${owner}`, guard };
    return bench.run(lockSettledAcquire, keys, { owner, leaseMs: 60_000 });
  };

  it('grants as usual there', async () => {
    const name = bench.name();
    const id = await replicationId(bench.connection);
    await bench.command('SET', `holdfast_guard:{${name}}`, `master_replid:${id}`);
    expect(await settle(name, 'c:1')).toEqual({ status: 'held' });
    expect(await bench.hash(name)).toEqual({ 'c:1': '1' });
    expect(await settle(name, 'c:2')).toMatchObject({ status: 'busy' });
  });

  it.each(['no record', 'an empty record', 'a grace', 'another server'])(
    'writes nothing for %s',
    async (what) => {
      const name = bench.name();
      const id = await replicationId(bench.connection);
      const guard = `holdfast_guard:{${name}}`;
      if (what === 'a grace') await bench.command('SET', guard, `${id} 1`);
      if (what === 'an empty record') await bench.command('SET', guard, '');
      if (what === 'another server') await bench.command('SET', guard, `master_replid:${'ab'.repeat(20)}`);
      expect(await settle(name, 'c:1')).toEqual({ status: 'unsettled' });
      expect(await bench.exists(name)).toBe(false);
    },
  );
});

describeWithProcess('a replica that was promoted', () => {
  const GRACE_MS = 60_000;

  async function promoted() {
    const set = await ownReplicas({ replicas: 1 });
    const [replica] = set.replicas;
    if (replica === undefined) throw new Error('there is no replica');
    const before = await openRaw(set.primary.host, set.primary.port);
    const after = await openRaw(replica.server.host, replica.server.port);
    return { set, before, after };
  }

  it('keeps new owners out for a grace from its first request, whatever it had replicated', async () => {
    const { set, before, after } = await promoted();
    expect(await check('holdfast_guard', PAST_GRACE_MS, { on: before })).toMatchObject({
      status: expect.any(String),
    });
    await set.promote(0);
    const reply = await check('holdfast_guard', GRACE_MS, { on: after });
    expect(reply).toEqual({ status: 'grace', remainingMs: GRACE_MS, server: await replicationId(after) });
    expect(reply).not.toMatchObject({ server: await replicationId(before) });
    const later = await check('holdfast_guard', GRACE_MS, { on: after });
    expect(later.status === 'grace' && later.remainingMs).toBeLessThanOrEqual(GRACE_MS);
    // Its INFO also tells the id of the former primary.
    await after.command('SET', 'holdfast_guard', `master_replid:${await replicationId(before)}`);
    expect(await isSettled('holdfast_guard', after)).toEqual({ status: 'unsettled' });
  });

  it('is settled for a client that has seen it in charge for longer than a grace', async () => {
    const { set, after } = await promoted();
    await set.promote(0);
    const trusted = `${'cd'.repeat(20)} ${await replicationId(after)}`;
    expect(await check('holdfast_guard', GRACE_MS, { on: after, trusted })).toEqual({ status: 'open' });
    expect(await check('holdfast_guard', GRACE_MS, { on: after })).toEqual({ status: 'open' });
  });

  it('starts a grace even if no record was replicated', async () => {
    const { set, after } = await promoted();
    await set.promote(0);
    expect(await after.command('EXISTS', 'holdfast_guard')).toBe(0);
    expect(await check('holdfast_guard', GRACE_MS, { on: after })).toMatchObject({ status: 'grace' });
  });
});

describeWithProcess('a server that restarts', () => {
  it('keeps new owners out after it lost everything or restarted with older data', async () => {
    const server = await ownServer({ args: ['--save', '', '--appendonly', 'no'] });
    const id = await replicationId(await openRaw(server.host, server.port));
    await server.restart();
    const connection = await openRaw(server.host, server.port);
    expect(await check('holdfast_guard', 30_000, { on: connection })).toMatchObject({ status: 'grace' });
    expect(await replicationId(connection)).not.toBe(id);

    await connection.command('SAVE');
    await server.restart();
    const again = await openRaw(server.host, server.port);
    expect(await again.command('EXISTS', 'holdfast_guard')).toBe(1);
    expect(await check('holdfast_guard', 30_000, { on: again })).toMatchObject({ status: 'grace' });
  });

  it('refuses to judge if the user has no permission for INFO', async () => {
    const server = await ownServer();
    await server.command('ACL', 'SETUSER', 'limited', 'on', 'nopass', '~*', '+@all', '-info');
    const connection = await openRaw(server.host, server.port);
    await connection.command('AUTH', 'limited', 'x');
    await expect(check('holdfast_guard', 1_000, { on: connection })).rejects.toThrow(
      /can't run this command|no permissions to run/,
    );
    expect(await server.command('EXISTS', 'holdfast_guard')).toBe(0);
  });
});

bench.itCoversEveryWordOf('guard');
