/** The scripts by which people look: they answer for whatever is there, and change nothing. */
import { describe, expect, it } from 'vitest';
import {
  inspectClients,
  inspectDescribe,
  inspectIdentity,
  inspectListeners,
  inspectPermits,
  inspectPrimary,
  inspectServer,
  inspectSift,
} from '../../src/scripts/generated.ts';
import { RawConnection } from '../../src/testing/index.ts';
import { describeWithProcess, openRaw, ownServer, sharedServer } from '../harness/servers.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();
const look = (name: string) =>
  bench.run(
    inspectDescribe,
    {
      lock: name,
      queue: `redisson_lock_queue:{${name}}`,
      token: `redisson_lock_token:{${name}}`,
      ends: `{${name}}:timeout`,
    },
    {},
  );

describe('inspect/sift', () => {
  const OWNER = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455:7';

  it('names what may be a lock or a synchronizer, and nothing else', async () => {
    const family = bench.name();
    const key = (name: string) => `${family}:${name}`;
    const candidates: Record<string, [string, ...string[]]> = {
      lock: ['HSET', OWNER, '1'],
      simple: ['SET', OWNER, 'PX', '60000'],
      readWrite: ['HSET', 'mode', 'read', 'c:1', '2', 'c:2', '1'],
      rate: ['HSET', 'rate', '1', 'interval', '2', 'type', '0'],
      semaphore: ['SET', '5'],
      below: ['SET', '-3'],
    };
    const others: Record<string, [string, ...string[]]> = {
      user: ['HSET', 'name', 'x', 'age', '7'],
      cache: ['SET', '{"a":1}', 'PX', '60000'],
      immortal: ['SET', OWNER],
      empty: ['SET', ''],
      large: ['SET', '1'.repeat(200)],
      list: ['RPUSH', 'a'],
      set: ['SADD', 'a'],
      scores: ['ZADD', '1', 'a'],
      stream: ['XADD', '*', 'a', 'b'],
    };
    const planted = Object.entries({ ...others, ...candidates });
    for (const [name, [command, ...args]] of planted) await bench.plant(command, key(name), ...args);
    const names = [...planted.map(([name]) => name), 'just gone'];
    const { positions } = await bench.run(inspectSift, { found: names.map(key) }, {});
    expect(positions.map((position) => names[position - 1])).toEqual([
      ...Object.keys(candidates),
      'just gone',
    ]);
  });

  it('answers nothing for nothing', async () => {
    expect(await bench.run(inspectSift, { found: [] }, {})).toEqual({ status: 'sifted', positions: [] });
  });
});

describe('inspect/listeners', () => {
  it('counts the connections that listen on each channel', async () => {
    const [busy, idle] = [bench.name(), bench.name()];
    const { host, port } = sharedServer();
    const listeners = await Promise.all([1, 2].map(() => RawConnection.connect(host, port)));
    for (const listener of listeners) await listener.command('SUBSCRIBE', busy);
    const channels = [idle, busy];
    const counted = await bench.run(inspectListeners, { lock: busy }, { count: 'NUMSUB', channels });
    expect(counted).toEqual({ status: 'counted', listeners: [0, 2] });
    for (const listener of listeners) await listener.close();
  });

  it('says why it counts nothing', async () => {
    const refused = await bench.run(inspectListeners, { lock: 'a' }, { count: 'NOTHING', channels: ['a'] });
    expect(refused).toEqual({ status: 'refused', why: expect.stringMatching(/^ERR /) });
  });
});

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

  it('knows a fair lock by its queue, and names the waiters in order, with and without a holder', async () => {
    const name = bench.name();
    await bench.plant('RPUSH', `redisson_lock_queue:{${name}}`, 'c:2', 'c:3', 'j:7');
    const waiters = ['c:2', 'c:3', 'j:7'];
    expect(await look(name)).toEqual({ status: 'fair', remainingMs: -2, holder: '', holdCount: 0, waiters });
    await bench.plant('HSET', name, 'c:1', '1');
    await bench.command('PEXPIRE', name, 60_000);
    expect(await look(name)).toMatchObject({ status: 'fair', holder: 'c:1', holdCount: 1, waiters });
    expect(await bench.command('LRANGE', `redisson_lock_queue:{${name}}`, 0, -1)).toEqual(waiters);
  });

  it('names the first thousand of a queue', async () => {
    const name = bench.name();
    const waiters = Array.from({ length: 1_200 }, (_, i) => `c:${i}`);
    await bench.plant('RPUSH', `redisson_lock_queue:{${name}}`, ...waiters);
    expect(await look(name)).toMatchObject({ status: 'fair', waiters: waiters.slice(0, 1_000) });
  });

  it('knows a fenced lock by its last token, held or free', async () => {
    const name = bench.name();
    await bench.plant('SET', `redisson_lock_token:{${name}}`, '9007199254740990');
    const lastToken = 9_007_199_254_740_990;
    expect(await look(name)).toEqual({
      status: 'fenced',
      remainingMs: -2,
      holder: '',
      holdCount: 0,
      lastToken,
    });
    await bench.plant('HSET', name, 'c:1', '2');
    await bench.command('PEXPIRE', name, 60_000);
    expect(await look(name)).toMatchObject({ status: 'fenced', holder: 'c:1', holdCount: 2, lastToken });
  });

  it.each(['no number', '9007199254740992', '1.5'])('takes no token from %s', async (text) => {
    const name = bench.name();
    await bench.plant('SET', `redisson_lock_token:{${name}}`, text);
    expect(await look(name)).toEqual({ status: 'free' });
  });

  it('knows a rate limiter by its fields, of every version of Redisson', async () => {
    const [older, newer] = [bench.name(), bench.name()];
    await bench.plant('HSET', older, 'rate', '5', 'interval', '1000', 'type', '0');
    await bench.plant('HSET', newer, 'rate', '5', 'interval', '1000', 'type', '1', 'keepAliveTime', '0');
    expect(await look(older)).toEqual({ status: 'rateLimiter' });
    expect(await look(newer)).toEqual({ status: 'rateLimiter' });
  });

  it('calls a whole number a counter, and a semaphore with leases if there are permits', async () => {
    const name = bench.name();
    await bench.plant('SET', name, '-3');
    expect(await look(name)).toEqual({ status: 'counter', count: -3 });
    await bench.plant('ZADD', `{${name}}:timeout`, '1', 'a permit');
    expect(await look(name)).toEqual({ status: 'permitSemaphore' });
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
    ['hash', 'HSET', ['rate', 'fast', 'interval', '1000', 'type', '0']],
    ['hash', 'HSET', ['rate', '1.5', 'interval', '1000', 'type', '0']],
    ['hash', 'HSET', ['rate', '5', 'interval', '1000', 'type', 'fixed']],
    ['hash', 'HSET', ['rate', '5', 'interval', '1000']],
    ['hash', 'HSET', ['rate', '5', 'interval', '1', 'type', '0', 'keepAliveTime', '0', 'more', '1']],
    ['string', 'SET', ['12345678901234567']],
    ['string', 'SET', ['1.5']],
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

describe('inspect/permits', () => {
  const list = (name: string) => bench.run(inspectPermits, { permits: name, ends: `{${name}}:timeout` }, {});

  it('lists ids as text with the time they have left, and counts ended ones as free', async () => {
    const name = bench.name();
    const [seconds] = (await bench.command('TIME')) as string[];
    const soon = Number(seconds) * 1_000 + 60_000;
    const ends = `{${name}}:timeout`;
    await bench.plant('SET', name, '1');
    await bench.plant('ZADD', ends, String(soon), Buffer.from('00ff0a10203040506070809010a0b0c0', 'hex'));
    await bench.command('ZADD', ends, '922337203685477', 'e'.repeat(32));
    await bench.command('ZADD', ends, '1', Buffer.alloc(16, 7));
    const reply = await list(name);
    expect(reply).toMatchObject({ status: 'permits', free: 2, taken: 2 });
    if (reply.status !== 'permits') return;
    const [first, leftMs, second, noEnd] = reply.list;
    expect(first).toBe('00ff0a10203040506070809010a0b0c0');
    expectRunning(Number(leftMs), 60_000);
    expect([second, noEnd]).toEqual(['e'.repeat(32), '-1']);
    expect(await bench.command('GET', name)).toBe('1');
    expect(await bench.command('ZCARD', ends)).toBe(3);
  });

  it('says missing of what is no semaphore', async () => {
    const name = bench.name();
    expect(await list(name)).toEqual({ status: 'missing' });
    await bench.plant('SET', name, 'a page');
    expect(await list(name)).toEqual({ status: 'missing' });
  });
});

describe('inspect/clients', () => {
  it('reads many records, and nothing of clients that have none', async () => {
    const [known, unknown] = [bench.name(), bench.name()];
    await bench.plant('SET', known, '{"label":"a"}');
    const reply = await bench.run(inspectClients, { clients: [known, unknown, known] }, {});
    expect(reply).toEqual({ status: 'clients', records: ['{"label":"a"}', '', '{"label":"a"}'] });
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

describeWithProcess('a user without permission for STRLEN', () => {
  it('still sees locks; whole numbers are other data to it', async () => {
    const server = await ownServer();
    await server.command('ACL', 'SETUSER', 'older', 'on', '>pw', '~*', '+@all', '-strlen');
    await server.command('SET', 'number', '5');
    await server.command('HSET', 'lock', '5b1d7c0a-2a3b-4c5d-8e9f-001122334455:7', '1');
    const connection = await openRaw(server.host, server.port);
    await connection.command('AUTH', 'older', 'pw');
    const keys = (lock: string) => ({ lock, queue: 'q', token: 'number', ends: 'e' });
    const ask = (lock: string) => bench.run(inspectDescribe, keys(lock), {}, connection);
    expect(await ask('number')).toEqual({ status: 'other', type: 'string' });
    expect(await ask('lock')).toMatchObject({ status: 'lock', holdCount: 1 });
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
