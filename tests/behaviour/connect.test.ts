/** Connections of our own: the suites once more through them, and what only they can get wrong. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findFreePort } from '../../src/embedded/free-port.ts';
import { DriverError, Holdfast, OptionError } from '../../src/index.ts';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { isRunning } from '../harness/processes.ts';
import { describeWithProcess, openRaw, openShared, ownServer, sharedServer } from '../harness/servers.ts';
import { ownTlsSentinel } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { describeAbort } from './parts/abort.ts';
import { describeClient } from './parts/client.ts';
import { describeHold } from './parts/hold.ts';
import { describeMutualExclusion } from './parts/mutual-exclusion.ts';
import { describeReentry } from './parts/reentry.ts';
import { describeWaiting } from './parts/waiting.ts';
import { describeWithLock } from './parts/with-lock.ts';
import { untilWaiting } from './support/by-hand.ts';
import { closedAtEnd, forbidUnhandledRejections, throughConnect } from './support/context.ts';
import { REENTRANT } from './support/kinds.ts';
import { rejection, timed } from './support/moments.ts';

describe('locks through Holdfast.connect', () => {
  forbidUnhandledRejections();
  describeMutualExclusion(throughConnect, REENTRANT);
  describeWaiting(throughConnect, REENTRANT);
  describeHold(throughConnect, REENTRANT);
  describeWithLock(throughConnect, REENTRANT);
  describeReentry(throughConnect, REENTRANT);
  describeAbort(throughConnect, REENTRANT);
});

describe('the client through Holdfast.connect', () => {
  forbidUnhandledRejections();
  describeClient(throughConnect);
});

describe('connecting', () => {
  forbidUnhandledRejections();

  it('takes a URL, or where the server is in fields', async () => {
    const { url, host, port } = sharedServer();
    const name = randomName();
    const [byUrl, byFields] = [await Holdfast.connect(url), await Holdfast.connect({ host, port, db: 0 })];
    closedAtEnd(byUrl);
    closedAtEnd(byFields);
    await byUrl.getLock(name).lock();
    expect(await byFields.getLock(name).tryLock()).toBeNull();
  });

  it('uses the database that the target names', async () => {
    const { url } = sharedServer();
    const raw = await openShared();
    const name = randomName();
    const client = closedAtEnd(await Holdfast.connect({ url, db: 3 }));
    const hold = await client.getLock(name).lock();
    expect(await raw.command('EXISTS', name)).toBe(0);
    await raw.command('SELECT', 3);
    expect(await raw.command('HGETALL', name)).toEqual([hold.owner, '1']);
  });

  it('fails with DriverError, soon, when no server listens', async () => {
    const port = await findFreePort();
    const target = `redis://127.0.0.1:${port}`;
    const { result: error, tookMs } = await timed(() =>
      rejection(Holdfast.connect(target, { commandTimeoutMs: 1_000 })),
    );
    expect(error).toBeInstanceOf(DriverError);
    expect(error).toMatchObject({ code: 'ERR_DRIVER', cause: expect.any(Error) });
    expect((error as DriverError).message).toContain(`127.0.0.1:${port}`);
    expect(tookMs).toBeLessThan(2_500);
  });

  it.each([
    'http://127.0.0.1',
    '127.0.0.1:6379',
    'not a url',
    '',
    'redis://127.0.0.1/zero',
    'redis://127.0.0.1:port',
  ])('refuses the url %j', async (url) => {
    expect(await rejection(Holdfast.connect(url))).toBeInstanceOf(OptionError);
    expect(await rejection(Holdfast.connect({ url }))).toBeInstanceOf(OptionError);
  });

  it('refuses invalid targets, and a watchdogMs longer than the grace', async () => {
    const nodes = [{ host: '127.0.0.1', port: 6379 }];
    const targets = [
      { sentinels: nodes },
      { cluster: nodes, sentinels: nodes, name: 'mymaster' },
      { master: nodes[0], replicas: nodes },
      { replicas: nodes },
      { url: 'redis://127.0.0.1', hostname: 'typo' },
      { port: 0 },
      { db: -1 },
      { password: 5 },
      null,
      5,
    ] as never[];
    for (const target of targets) {
      expect(await rejection(Holdfast.connect(target)), JSON.stringify(target)).toBeInstanceOf(OptionError);
    }
    const overlong = Holdfast.connect(sharedServer().url, { guard: true, watchdogMs: 60_000 });
    expect(await rejection(overlong)).toBeInstanceOf(OptionError);
  });

  it.each([
    ['no target, as when an environment variable is missing', undefined],
    ['a port that no address has', { port: 70_000 }],
  ])('refuses %s', async (_what, target) => {
    expect(await rejection(Holdfast.connect(target as never))).toBeInstanceOf(OptionError);
  });

  it('starts a private server when it is asked for an embedded one, and ends it with the client', async () => {
    const client = await Holdfast.connect({ embedded: true });
    const other = await Holdfast.connect({ embedded: true });
    const name = randomName();
    const hold = await client.getLock(name).lock();
    const { signal } = hold;
    expect(await client.getLock(name).tryLock()).toBeNull();
    expect(await other.getLock(name).tryLock()).not.toBeNull();
    expect(await client.capabilities()).toMatchObject({ server: 'valkey' });
    await Promise.all([client.close(), other.close()]);
    expect(signal.reason).toMatchObject({ reason: 'closed' });
  });

  it('with closeOnSignals, closes on a signal and lets the signal end the process', async () => {
    const raw = await openShared();
    const name = randomName();
    const script = fileURLToPath(new URL('./children/holds.ts', import.meta.url));
    const child = spawnChild(script, { args: [sharedServer().url, name, '60000', 'closeOnSignals'] });
    const { owner } = await child.next(({ state }) => state === 'held');
    expect(await raw.command('HGETALL', name)).toEqual([owner, '1']);
    child.kill('SIGTERM');
    expect(await child.exited).toEqual({ code: null, signal: 'SIGTERM' });
    expect(isRunning(child.pid)).toBe(false);
    expect(await raw.command('EXISTS', name)).toBe(0);
  });

  it('without closeOnSignals, a signal releases nothing: the lease runs on without its process', async () => {
    const raw = await openShared();
    const name = randomName();
    const script = fileURLToPath(new URL('./children/holds.ts', import.meta.url));
    const child = spawnChild(script, { args: [sharedServer().url, name, '60000'] });
    const { owner } = await child.next(({ state }) => state === 'held');
    child.kill('SIGTERM');
    await child.exited;
    expect(await raw.command('HGETALL', name)).toEqual([owner, '1']);
    await raw.command('DEL', name);
  });

  describeWithProcess('to a private server', () => {
    it('says that the password is wrong or missing, without repeating it', async () => {
      const { host, port } = await ownServer({ args: ['--requirepass', 'open-sesame'] });
      const wrong = await rejection(Holdfast.connect(`redis://:wrong-guess@${host}:${port}`));
      expect(wrong).toBeInstanceOf(DriverError);
      expect((wrong as DriverError).message).not.toContain('wrong-guess');
      expect(await rejection(Holdfast.connect({ host, port }))).toBeInstanceOf(DriverError);
      const client = closedAtEnd(await Holdfast.connect({ host, port, password: 'open-sesame' }));
      expect(await client.getLock(randomName()).tryLock()).not.toBeNull();
    });

    it('speaks TLS to the primary that a Sentinel names, and checks its certificate', async () => {
      const { name, addresses, server, port, ca } = await ownTlsSentinel();
      const raw = await openRaw(server.host, server.port);
      const target = { sentinels: addresses, name, tls: { ca } };
      const ours = closedAtEnd(await Holdfast.connect(target));
      const theirs = closedAtEnd(await Holdfast.connect(target));
      const lock = theirs.getLock(randomName());
      const hold = await ours.getLock(lock.name).lock();
      const waiter = lock.lock();
      await untilWaiting(raw, REENTRANT, lock.name);
      const connections =
        String(await raw.command('CLIENT', 'LIST')).match(/^.* name=holdfast:\S+ .*$/gm) ?? [];
      expect(connections.length).toBeGreaterThan(2);
      for (const each of connections) expect(each).toContain(` laddr=127.0.0.1:${port} `);
      await hold.unlock();
      expect(await (await waiter).unlock()).toBe(true);
      const distrustful = rejection(Holdfast.connect({ ...target, tls: true }));
      expect(await distrustful).toBeInstanceOf(DriverError);
      expect(String(await distrustful)).toContain('certificate');
    });

    it('fails within commandTimeoutMs when the server does not answer', async () => {
      const server = await ownServer();
      await server.pause();
      const { result: error, tookMs } = await timed(() =>
        rejection(Holdfast.connect(server.url, { commandTimeoutMs: 400 })),
      );
      await server.resume();
      expect(error).toBeInstanceOf(DriverError);
      expect(tookMs).toBeLessThan(2_500);
    });

    it('leaves no connection behind, whether connecting fails or the client closes', async () => {
      const server = await ownServer({ args: ['--requirepass', 'open-sesame'] });
      const raw = await openRaw(server.host, server.port);
      await raw.command('AUTH', 'open-sesame');
      const { host, port } = server;
      await rejection(Holdfast.connect({ host, port, password: 'wrong-guess' }));
      const client = await Holdfast.connect({ host, port, password: 'open-sesame' });
      const lock = client.getLock(randomName());
      await lock.lock();
      await rejection(lock.withLock(() => 1, { waitMs: 50 }));
      await client.close();
      // What has been closed here is closed there a moment later.
      await eventually(async () => {
        const connections = String(await raw.command('CLIENT', 'LIST'));
        expect(connections.trim().split('\n')).toHaveLength(1);
      });
    });
  });
});
