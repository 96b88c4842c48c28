/** The scripts by which people look: they answer for whatever is there, and change nothing. */
import { describe, expect, it } from 'vitest';
import { inspectDescribe, inspectIdentity, inspectServer } from '../../src/scripts/generated.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { expectRunning, ScriptBench } from './script-bench.ts';

const bench = new ScriptBench();
const look = (lock: string) => bench.run(inspectDescribe, { lock }, {});

describe('inspect/describe', () => {
  it('says free of what is not there', async () => {
    expect(await look(bench.name())).toEqual({ status: 'free' });
  });

  it('knows a lock by its one field and its count', async () => {
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

  it('knows a lock of a Java client that lost its expiry', async () => {
    const name = bench.name();
    await bench.plant('HSET', name, 'u:7', '1');
    expect(await look(name)).toEqual({ status: 'lock', remainingMs: -1, holder: 'u:7', holdCount: 1 });
  });

  it('takes a string with an expiry for a plain lock, and shows no more than its beginning', async () => {
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
  it('gives the sections of INFO that tell what the server is and what it evicts', async () => {
    const reply = await bench.run(inspectServer, {}, {});
    expect(reply.status).toBe('server');
    expect(reply.general).toMatch(/^(redis|valkey)_version:\d+\.\d+/m);
    expect(reply.memory).toMatch(/^maxmemory:\d+\r?$/m);
    expect(reply.memory).toMatch(/^maxmemory_policy:[a-z-]+\r?$/m);
  });
});

describe('inspect/identity', () => {
  it('names the process and how long it has run', async () => {
    const info = (await bench.command('INFO', 'server')) as string;
    const reply = await bench.run(inspectIdentity, {}, {});
    expect(reply.status).toBe('server');
    expect(info).toContain(`run_id:${reply.runId}`);
    expect(reply.runId).toMatch(/^[0-9a-f]{40}$/);
    const uptime = Number(/uptime_in_seconds:(\d+)/.exec(info)?.[1]);
    expect(Number(reply.uptimeSeconds) - uptime).toBeGreaterThanOrEqual(0);
    expect(Number(reply.uptimeSeconds) - uptime).toBeLessThanOrEqual(5);
  });
});

describeWithProcess('a user who may not ask for INFO', () => {
  it('is given empty text', async () => {
    const server = await ownServer();
    await server.command('ACL', 'SETUSER', 'blind', 'on', '>pw', '~*', '&*', '+@all', '-info');
    const connection = await openRaw(server.host, server.port);
    await connection.command('AUTH', 'blind', 'pw');
    expect(await bench.run(inspectServer, {}, {}, connection)).toEqual({
      status: 'server',
      general: '',
      memory: '',
    });
    expect(await bench.run(inspectIdentity, {}, {}, connection)).toEqual({
      status: 'server',
      runId: '',
      uptimeSeconds: '',
    });
  });
});

bench.itCoversEveryWordOf('inspect');
