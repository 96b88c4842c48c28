/** Server processes of the test kit, and the raw connection that talks to them. */

import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findServerBinary, RawConnection, RawError, startServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { isRunning } from '../harness/processes.ts';
import { describeWithProcess, openRaw, openShared, ownServer, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';

const starter = fileURLToPath(new URL('../harness/children/starts-server.ts', import.meta.url));

describe('a raw connection', () => {
  it('returns every kind of RESP2 reply', async () => {
    const connection = await openShared();
    const key = randomName();
    expect(await connection.command('SET', key, 'grüße')).toBe('OK');
    expect(await connection.command('GET', key)).toBe('grüße');
    expect(await connection.command('APPEND', key, Buffer.from('!'))).toBe(8);
    expect(await connection.command('GET', `${key}:none`)).toBeNull();
    expect(await connection.command('EVAL', "return {1, {'a', false}, ''}", 0)).toEqual([1, ['a', null], '']);
  });

  it("rejects with the server's text, and goes on", async () => {
    const connection = await openShared();
    const key = randomName();
    await connection.command('SET', key, 'text');
    const failed = connection.command('HGET', key, 'field');
    await expect(failed).rejects.toBeInstanceOf(RawError);
    await expect(failed).rejects.toThrow('WRONGTYPE Operation against a key holding the wrong kind of value');
    expect(await connection.command('GET', key)).toBe('text');
  });

  it('answers pipelined commands in order, replies larger than a packet included', async () => {
    const connection = await openShared();
    const large = 'y'.repeat(300_000);
    expect(
      await Promise.all([
        connection.command('ECHO', 'first'),
        connection.command('ECHO', large),
        connection.command('ECHO', 'last'),
      ]),
    ).toEqual(['first', large, 'last']);
  });

  it('hands messages to listeners, apart from acknowledgements', async () => {
    const [subscriber, publisher] = [await openShared(), await openShared()];
    const [one, two] = [randomName('channel'), randomName('channel')];
    const heard: unknown[] = [];
    subscriber.onMessage((message) => heard.push(message));
    await subscriber.subscribe(one, two);
    await publisher.command('PUBLISH', two, 'b');
    await publisher.command('PUBLISH', one, 'a');
    expect(await subscriber.command('PING')).toEqual(['pong', '']);
    expect(heard).toEqual([
      { channel: two, message: 'b' },
      { channel: one, message: 'a' },
    ]);
  });

  it('rejects pending and later commands when it is closed', async () => {
    const { host, port } = sharedServer();
    const connection = await RawConnection.connect(host, port);
    const blocked = connection.command('BLPOP', randomName(), 0);
    const closing = connection.close();
    await expect(blocked).rejects.toThrow('The connection was closed');
    await closing;
    expect(connection.isOpen).toBe(false);
    await expect(connection.command('PING')).rejects.toThrow('The connection was closed');
  });
});

describeWithProcess('a server process', () => {
  it('persists nothing and allows DEBUG', async () => {
    const server = await ownServer();
    expect(await server.command('CONFIG', 'GET', 'save')).toEqual(['save', '']);
    expect(await server.command('CONFIG', 'GET', 'appendonly')).toEqual(['appendonly', 'no']);
    expect(await server.command('CONFIG', 'GET', 'bind')).toEqual(['bind', '127.0.0.1']);
    expect(await server.command('DEBUG', 'SLEEP', 0)).toBe('OK');
    expect(server.log).toContain('Ready to accept connections');
  });

  it('freezes and goes on: a command sent meanwhile is answered afterwards', async () => {
    const server = await ownServer();
    const connection = await openRaw(server.host, server.port);
    await server.pause();
    let isAnswered = false;
    const answer = connection.command('INCR', 'n').finally(() => {
      isAnswered = true;
    });
    // A server of the same kind that runs shows that there was time enough to answer.
    const other = await openShared();
    for (let call = 0; call < 50; call += 1) await other.command('PING');
    expect(isAnswered).toBe(false);
    await server.resume();
    expect(await answer).toBe(1);
  });

  it('is killed and restarted on the same port, empty, with arguments added', async () => {
    const server = await ownServer();
    const { pid, port } = server;
    await server.command('SET', 'key', 'value');
    const witness = await openRaw(server.host, port);
    await server.kill();
    expect(isRunning(pid)).toBe(false);
    await witness.closed;
    await expect(RawConnection.connect(server.host, port)).rejects.toThrow('ECONNREFUSED');
    await server.restart(['--maxmemory', '100mb']);
    expect(server.port).toBe(port);
    expect(server.pid).not.toBe(pid);
    expect(await server.command('GET', 'key')).toBeNull();
    expect(await server.command('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '104857600']);
  });

  it('keeps its data over a restart when its arguments say so', async () => {
    const server = await ownServer({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    await server.command('SET', 'key', 'value');
    await server.restart();
    expect(await server.command('GET', 'key')).toBe('value');
  });

  it('leaves neither process nor folder behind when closed', async () => {
    const server = await startServer();
    const { pid, dir } = server;
    expect(existsSync(dir)).toBe(true);
    await server.close();
    expect(isRunning(pid)).toBe(false);
    expect(existsSync(dir)).toBe(false);
    await server.close();
  });

  it('ends with the process that started it, even by SIGKILL', async () => {
    const parent = spawnChild(starter, { args: ['stay'] });
    const { serverPid, dir } = (await parent.next()) as { serverPid: number; dir: string };
    expect(isRunning(serverPid)).toBe(true);
    parent.kill('SIGKILL');
    await eventually(() => expect(isRunning(serverPid)).toBe(false));
    await eventually(() => expect(existsSync(dir)).toBe(false));
  });

  it('does not keep the process that started it alive, except while a command is pending', async () => {
    const parent = spawnChild(starter);
    const { answer, serverPid } = (await parent.next()) as { answer: string; serverPid: number };
    expect(answer).toBe('PONG');
    expect(await parent.exited).toEqual({ code: 0, signal: null });
    await eventually(() => expect(isRunning(serverPid)).toBe(false));
  });

  it('reports why it did not start', async () => {
    await expect(startServer({ args: ['--no-such-option', '1'] })).rejects.toThrow('no-such-option');
    await expect(startServer({ binary: '/no/such/program' })).rejects.toThrow('ENOENT');
  });

  it('refuses a port that another server answers on', async () => {
    const server = await ownServer();
    await expect(startServer({ port: server.port })).rejects.toThrow(
      new RegExp(`Address already in use|Process ${server.pid} answers on port ${server.port}`),
    );
    expect(await server.command('PING')).toBe('PONG');
  });

  it('refuses a port that something else listens on', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void blocker.close());
    await eventually(() => blocker.listening);
    const { port } = blocker.address() as { port: number };
    await expect(startServer({ port })).rejects.toThrow('Address already in use');
  });

  it('is found on PATH, and nowhere else', () => {
    const { PATH = '' } = process.env;
    onTestFinished(() => {
      process.env = { ...process.env, PATH };
    });
    expect(findServerBinary()).toMatch(/\/(redis|valkey)-server$/);
    process.env = { ...process.env, PATH: '/no/such/folder' };
    expect(findServerBinary()).toBeNull();
  });
});
