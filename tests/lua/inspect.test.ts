/** The scripts by which people look: they answer for whatever is there, and change nothing. */
import { describe, expect, it } from 'vitest';
import {
  inspectDescribe,
  inspectIdentity,
  inspectPrimary,
  inspectServer,
} from '../../src/scripts/generated.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();
const look = (lock: string) => bench.run(inspectDescribe, { lock }, {});

describe('inspect/describe', () => {
  it('reports a missing key as free', async () => {
    expect(await look(bench.name())).toEqual({ status: 'free' });
  });

  it('recognises a lock by its one field and its count', async () => {
    const name = bench.name();
    await bench.plant('HSET', name, 'c:1', '3');
    await bench.command('PEXPIRE', name, 60_000);
    const reply = await look(name);
    expect(reply).toEqual({
      status: 'lock',
      remainingMs: expect.any(Number),
      holder: 'c:1',
      holdCount: 3,
    });
    if (reply.status === 'lock') expectRunning(reply.remainingMs, 60_000);
    expect(await bench.hash(name)).toEqual({ 'c:1': '3' });
  });

  it('recognises a lock of a Java client that lost its expiry', async () => {
    const name = bench.name();
    const holder = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455:7';
    await bench.plant('HSET', name, holder, '1');
    expect(await look(name)).toEqual({ status: 'lock', remainingMs: -1, holder, holdCount: 1 });
  });

  it('recognises a read/write lock by its mode, and names all holders with their counts', async () => {
    const name = bench.name();
    await bench.plant('HSET', name, 'mode', 'read', 'c:1', '2', 'c:2', '1');
    await bench.command('PEXPIRE', name, 60_000);
    const reply = await look(name);
    expect(reply).toEqual({
      status: 'readWrite',
      remainingMs: expect.any(Number),
      mode: 'read',
      holders: ['c:1', '2', 'c:2', '1'],
    });
    if (reply.status === 'readWrite') expectRunning(reply.remainingMs, 60_000);
    const written = bench.name();
    await bench.plant('HSET', written, 'mode', 'write', 'c:1:write', '1');
    expect(await look(written)).toEqual({
      status: 'readWrite',
      remainingMs: -1,
      mode: 'write',
      holders: ['c:1:write', '1'],
    });
  });

  it('does not read a hash with more fields than a lock has', async () => {
    const name = bench.name();
    const fields = Array.from({ length: 10_000 }, (_, i) => [`c:${i}`, '1']).flat();
    await bench.plant('HSET', name, 'mode', 'read', ...fields);
    expect(await look(name)).toEqual({ status: 'other', type: 'hash' });
    await bench.command('HDEL', name, 'c:0');
    expect(await look(name)).toMatchObject({ status: 'readWrite' });
  });

  it('treats a string with an expiry as a simple lock, and shows only its beginning', async () => {
    const name = bench.name();
    await bench.plant('SET', name, 'x'.repeat(1_000), 'PX', 60_000);
    const reply = await look(name);
    expect(reply).toEqual({
      status: 'simple',
      remainingMs: expect.any(Number),
      holder: 'x'.repeat(128),
    });
    if (reply.status === 'simple') expectRunning(reply.remainingMs, 60_000);
    expect(await bench.command('STRLEN', name)).toBe(1_000);
  });

  it.each([
    ['string', 'SET', ['data']],
    ['hash', 'HSET', ['a', '1', 'b', '2']],
    ['hash', 'HSET', ['name', 'not a count']],
    ['hash', 'HSET', ['c:1', '0']],
    ['hash', 'HSET', ['visits', '5']],
    ['hash', 'HSET', ['mode', 'read']],
    ['hash', 'HSET', ['mode', 'dark', 'size', '3']],
    ['hash', 'HSET', ['mode', 'read', 'size', '3', 'title', 'a page']],
    ['list', 'RPUSH', ['a']],
    ['set', 'SADD', ['a']],
    ['zset', 'ZADD', ['1', 'a']],
    ['stream', 'XADD', ['*', 'a', '1']],
  ])('calls other data by its type: %s by %s %j', async (type, command, values) => {
    const name = bench.name();
    await bench.plant(command, name, ...values);
    expect(await look(name)).toEqual({ status: 'other', type });
    expect(await bench.exists(name)).toBe(true);
  });
});

describe('inspect/server', () => {
  const ask = (publish: string, channel: string, connection = bench.connection) =>
    bench.run(inspectServer, { slot: [] }, { publish, channel }, connection);

  it("returns the sections of INFO with the server's facts, and the time", async () => {
    const before = (await bench.command('TIME')) as string[];
    const reply = await ask('', '');
    const after = (await bench.command('TIME')) as string[];
    expect(reply.status).toBe('server');
    expect(reply.info).toMatch(/^(redis|valkey)_version:\d+\.\d+/m);
    expect(reply.info).toMatch(/^maxmemory:\d+\r?$/m);
    expect(reply.info).toMatch(/^maxmemory_policy:[a-z-]+\r?$/m);
    for (const name of ['aof_enabled', 'role', 'connected_slaves', 'master_replid', 'cluster_enabled']) {
      expect(reply.info).toMatch(new RegExp(`^${name}:\\w+\\r?$`, 'm'));
    }
    expect(reply.nowMs).toBeGreaterThanOrEqual(Number(before[0]) * 1_000);
    expect(reply.nowMs).toBeLessThan((Number(after[0]) + 1) * 1_000);
  });

  it('publishes one message if requested, and reports nothing', async () => {
    const channel = bench.name();
    const heard = await bench.listenTo(channel);
    expect(await ask('', channel)).toMatchObject({ refusal: '' });
    expect(await heard()).toEqual([]);
    expect(await ask('PUBLISH', channel)).toMatchObject({ refusal: '' });
    expect(await heard()).toEqual(['']);
  });

  it('reports why a message was refused', async () => {
    expect((await ask('NOPUBLISH', 'channel')).refusal).toMatch(/unknown/i);
  });
});

describe('inspect/primary', () => {
  it("returns the server's replication section", async () => {
    const info = (await bench.command('INFO', 'replication')) as string;
    const reply = await bench.run(inspectPrimary, { lock: bench.name() }, {});
    expect(reply.status).toBe('primary');
    for (const name of ['role', 'connected_slaves', 'master_replid']) {
      expect(info).toContain(new RegExp(`^${name}:\\w+`, 'm').exec(reply.info)?.[0]);
    }
  });
});

describe('inspect/identity', () => {
  it('names the process and how long it has run', async () => {
    const info = (await bench.command('INFO', 'server')) as string;
    const reply = await bench.run(inspectIdentity, { lock: bench.name() }, {});
    expect(reply.status).toBe('server');
    expect(info).toContain(`run_id:${reply.runId}`);
    expect(reply.runId).toMatch(/^[0-9a-f]{40}$/);
    const uptime = Number(/uptime_in_seconds:(\d+)/.exec(info)?.[1]);
    expect(Number(reply.uptimeSeconds) - uptime).toBeGreaterThanOrEqual(0);
    expect(Number(reply.uptimeSeconds) - uptime).toBeLessThanOrEqual(5);
  });
});

describeWithProcess('a user without permission for INFO', () => {
  it('gets empty text', async () => {
    const server = await ownServer();
    await server.command('ACL', 'SETUSER', 'blind', 'on', '>pw', '~*', '+@all', '-info');
    const connection = await openRaw(server.host, server.port);
    await connection.command('AUTH', 'blind', 'pw');
    const message = { publish: '', channel: '' };
    expect(await bench.run(inspectServer, { slot: [] }, message, connection)).toEqual({
      status: 'server',
      nowMs: expect.any(Number),
      info: '',
      refusal: '',
    });
    expect(await bench.run(inspectPrimary, { lock: 'any' }, {}, connection)).toEqual({
      status: 'primary',
      info: '',
    });
    expect(await bench.run(inspectIdentity, { lock: bench.name() }, {}, connection)).toEqual({
      status: 'server',
      runId: '',
      uptimeSeconds: '',
    });
  });
});

bench.itCoversEveryWordOf('inspect');
