/** The connections that are ours: the contract of every driver, and what their settings promise. */

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ServerTarget } from '../../src/drivers/address.ts';
import { openDriver } from '../../src/drivers/connect.ts';
import type { Driver } from '../../src/drivers/driver.ts';
import { DriverError, OptionError } from '../../src/errors.ts';
import { classify } from '../../src/outcome.ts';
import { RespStream } from '../../src/testing/resp.ts';
import { evalOn } from '../harness/script-calls.ts';
import { describeWithProcess, ownProxy, ownServer } from '../harness/servers.ts';
import { describeDriver } from './parts/driver-contract.ts';

describeDriver({
  title: 'a connection of our own',
  hasKeyPrefix: false,
  async connect({ port, username, password, db, ca }) {
    const tls = ca === undefined ? undefined : { ca };
    const driver = await openServer({ port, username, password, db, tls }, 5000);
    return { driver, close: () => driver.close() };
  },
});

function openServer(server: ServerTarget, commandTimeoutMs = 2000): Promise<Driver> {
  return openDriver({ kind: 'server', server }, { commandTimeoutMs });
}

async function open(target: ServerTarget, commandTimeoutMs?: number): Promise<Driver> {
  const driver = await openServer(target, commandTimeoutMs);
  onTestFinished(() => driver.close());
  return driver;
}

async function failure(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => expect.unreachable('the call should have been rejected'),
    (error: Error) => error,
  );
}

/** A server that accepts connections and does as told with them; it keeps those that are open. */
async function listen(server: Server): Promise<{ port: number; accepted: Socket[]; open: Set<Socket> }> {
  const accepted: Socket[] = [];
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    accepted.push(socket);
    open.add(socket.on('close', () => open.delete(socket)).on('error', () => {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, accepted, open };
}

describe('opening a connection that is not available', () => {
  it('says where and why, without the password', async () => {
    const closed = createServer();
    const { port } = await listen(closed);
    closed.close();
    await once(closed, 'close');
    const error = await failure(open({ url: `redis://me:se%3Acret@127.0.0.1:${port}/2` }));
    expect(error).toBeInstanceOf(DriverError);
    expect(error.message).toBe(
      `Cannot connect to 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}. ` +
        'Check that the server runs, and that the client has its address',
    );
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' });
    expect(classify(error)).toBe('transient');
  });

  it('fails when the server does not answer, and leaves nothing behind', async () => {
    const silent = await listen(createServer((socket) => socket.resume()));
    const startedAt = performance.now();
    const error = await failure(open({ port: silent.port, password: 'secret' }, 200));
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(error.message).toContain(`127.0.0.1:${silent.port}`);
    expect(error.message).not.toContain('secret');
    await expect.poll(() => silent.open.size).toBe(0);
    // The first attempts to reconnect would fall into this time.
    await expect(vi.waitUntil(() => silent.accepted.length > 1, { timeout: 400 })).rejects.toThrow(
      'Timed out',
    );
  });

  it('does not try again after a server that hangs up', async () => {
    const rude = await listen(createServer((socket) => socket.destroy()));
    expect(await failure(open({ port: rude.port }))).toBeInstanceOf(DriverError);
    await expect(vi.waitUntil(() => rude.accepted.length > 1, { timeout: 400 })).rejects.toThrow('Timed out');
  });

  it('waits for a server that is still loading its data', async () => {
    const answers = ['-LOADING Redis is loading the dataset in memory', '-LOADING still', '$8\r\nholdfast'];
    const loading = createServer((socket) => {
      const stream = new RespStream();
      socket.on('data', (chunk) => {
        for (const { value } of stream.push(chunk)) {
          const [name] = value as string[];
          const answer = name === 'hello' ? "-ERR unknown command 'HELLO'" : '+OK';
          socket.write(`${name === 'ping' ? answers.shift() : answer}\r\n`);
        }
      });
    });
    await open({ port: (await listen(loading)).port });
    expect(answers).toEqual([]);
  });

  it('refuses an invalid target, without repeating it', async () => {
    for (const url of [
      'redis://me:secret@',
      'http://me:secret@host',
      'redis://me:secret@host/zero',
      'secret',
    ]) {
      const error = await failure(open({ url }));
      expect(error).toBeInstanceOf(OptionError);
      expect(error.message).not.toContain('secret');
    }
  });
});

describeWithProcess('a connection made by Holdfast.connect', () => {
  const count = "return redis.call('incr', KEYS[1])";

  it('says that the password is wrong, without repeating it', async () => {
    const server = await ownServer({ args: ['--requirepass', 'right'] });
    const error = await failure(open({ url: `redis://:wr0ng@127.0.0.1:${server.port}` }));
    expect(error.message).toMatch(/^Cannot connect to 127\.0\.0\.1:\d+: WRONGPASS /);
    expect(error.message).not.toContain('wr0ng');
    expect(classify(error)).toBe('refused');
  });

  it('prints nothing if the user may neither ping nor read', async () => {
    const server = await ownServer();
    await server.command(
      'ACL',
      'SETUSER',
      'shy',
      'on',
      '>pw',
      '~*',
      '&*',
      '+@all',
      '-ping',
      '-info',
      '-hello',
    );
    const printed = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')];
    const driver = await open({ port: server.port, username: 'shy', password: 'pw' });
    expect(await evalOn(driver, count, ['shy'], [])).toBe(1);
    for (const spy of printed) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });

  it('takes address, credentials and database from the URL, and prefers single fields', async () => {
    const server = await ownServer();
    await server.command('ACL', 'SETUSER', 'käthe', 'on', '>p@ss:wörd', '~*', '&*', '+@all');
    const secret = `${encodeURIComponent('käthe')}:${encodeURIComponent('p@ss:wörd')}`;
    for (const [target, db] of [
      [{ url: `redis://${secret}@127.0.0.1:${server.port}/4` }, '4'],
      [{ url: `valkey://${secret}@localhost:1/4`, host: '127.0.0.1', port: server.port, db: 5 }, '5'],
    ] as const) {
      const driver = await open(target);
      const key = randomUUID();
      await evalOn(driver, "return redis.call('set', KEYS[1], '1')", [key], []);
      await server.command('SELECT', db);
      expect(await server.command('EXISTS', key)).toBe(1);
      const list = String(await server.command('CLIENT', 'LIST'));
      expect(list).toMatch(new RegExp(`name=holdfast .* db=${db} .* user=k`));
    }
  });

  it('runs a script once when its reply is lost, and rejects at once with an unknown outcome', async () => {
    const server = await ownServer();
    const proxy = await ownProxy(server);
    const driver = await open({ port: proxy.port });
    const key = randomUUID();
    const swallowed = proxy.swallowReply(/eval/i);
    const error = await failure(evalOn(driver, count, [key], []));
    await swallowed;
    expect(classify(error)).toBe('unknown');
    await expect.poll(() => evalOn(driver, count, [key], []).catch(() => 'offline')).toBe(2);
  });

  it('fails at once while there is no server, never runs the script later, and recovers', async () => {
    const server = await ownServer();
    const driver = await open({ port: server.port });
    const key = randomUUID();
    await evalOn(driver, count, [key], []);
    await server.kill();
    await expect
      .poll(() => evalOn(driver, count, [key], []).catch(classify), { timeout: 5000 })
      .toBe('transient');
    await server.restart();
    await expect
      .poll(() => evalOn(driver, "return redis.call('get', KEYS[1])", [key], []).catch(() => 'offline'), {
        timeout: 5000,
      })
      .toBeNull();
    expect(await evalOn(driver, count, [key], [])).toBe(1);
  });

  it('replaces a connection that gets no answers', async () => {
    const server = await ownServer();
    const proxy = await ownProxy(server);
    const driver = await open({ port: proxy.port }, 200);
    proxy.blackhole();
    expect(classify(await failure(evalOn(driver, 'return 1', [], [])))).toBe('unknown');
    await proxy.heal();
    await expect
      .poll(() => evalOn(driver, 'return 1', [], []).catch(() => 'offline'), { timeout: 5000 })
      .toBe(1);
  });

  it('finds the new primary when its server has become a replica', async () => {
    const server = await ownServer();
    const driver = await open({ port: server.port });
    const connectionId = async () =>
      /^id=(\d+) .* name=holdfast /m.exec(String(await server.command('CLIENT', 'LIST')))?.[1];
    const before = await connectionId();
    await server.command('REPLICAOF', '127.0.0.1', '1');
    expect(classify(await failure(evalOn(driver, count, ['k'], [])))).toBe('transient');
    await server.command('REPLICAOF', 'NO', 'ONE');
    await expect
      .poll(() => evalOn(driver, count, ['k'], []).catch(() => 'offline'), { timeout: 5000 })
      .toBe(1);
    expect(Number(await connectionId())).toBeGreaterThan(Number(before));
  });

  it('closes its connection, within a bound when the server is frozen', async () => {
    const server = await ownServer();
    const connections = async () =>
      String(await server.command('CLIENT', 'LIST')).match(/name=holdfast/g) ?? [];
    const driver = await openServer({ port: server.port });
    expect(await connections()).toHaveLength(1);
    await driver.close();
    await expect.poll(connections).toHaveLength(0);
    const other = await openServer({ port: server.port });
    await server.pause();
    const startedAt = performance.now();
    await other.close();
    const tookMs = performance.now() - startedAt;
    await server.resume();
    expect(tookMs).toBeLessThan(1500);
    await expect.poll(connections).toHaveLength(0);
  });

  it('speaks TLS for rediss:// and with the tls option, and checks the certificate', async () => {
    const server = await ownServer();
    const { key, cert } = await certificate();
    const names: unknown[] = [];
    const tls = createTlsServer({ key, cert }, (socket) => {
      names.push(socket.servername);
      socket
        .pipe(connect(server.port, '127.0.0.1'))
        .on('error', () => {})
        .pipe(socket);
    });
    tls.on('tlsClientError', () => {});
    const { port } = await listen(tls);
    const trusted = await open({ url: `rediss://localhost:${port}`, tls: { ca: cert } });
    expect(await evalOn(trusted, 'return 1', [], [])).toBe(1);
    expect(names).toContain('localhost');
    const subscriber = await trusted.openConnection('', { onMessage() {}, onDown() {} });
    await subscriber.ping();
    expect(names).toHaveLength(2);
    for (const target of [{ url: `rediss://localhost:${port}` }, { host: 'localhost', port, tls: true }]) {
      expect((await failure(open(target))).cause).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    }
  });
});

/** A key and a certificate for localhost that nobody vouches for. */
async function certificate(): Promise<{ key: Buffer; cert: Buffer }> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-tls-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const [keyFile, certFile] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const request =
    'req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2 -subj /CN=localhost';
  const names = ['-addext', 'subjectAltName=DNS:localhost', '-keyout', keyFile, '-out', certFile];
  await promisify(execFile)('openssl', [...request.split(' '), ...names]);
  return { key: await readFile(keyFile), cert: await readFile(certFile) };
}
