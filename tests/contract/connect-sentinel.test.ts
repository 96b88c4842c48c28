/** Connections of ours by way of Sentinels, and to a fixed primary: how a start that fails is told. */

import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SentinelTarget } from '../../src/drivers/address.ts';
import { openDriver } from '../../src/drivers/connect.ts';
import type { Driver } from '../../src/drivers/driver.ts';
import { findFreePort } from '../../src/embedded/free-port.ts';
import { DriverError } from '../../src/errors.ts';
import { classify } from '../../src/outcome.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { createCertificate } from '../harness/certificate.ts';
import { evalOn } from '../harness/script-calls.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { ownReplicas, ownSentinels } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { failure, Listener } from './parts/driver-contract.ts';
import { describeSentinelClients } from './parts/ioredis-sentinel.ts';

const COUNT = "return redis.call('incr', KEYS[1])";

async function open(target: SentinelTarget, commandTimeoutMs = 5000): Promise<Driver> {
  const driver = await openDriver({ kind: 'sentinel', target }, { commandTimeoutMs });
  onTestFinished(() => driver.close());
  return driver;
}

describeSentinelClients({
  title: 'a connection of our own',
  hasKeyPrefix: false,
  async connect(at, { ca, ...settings }) {
    const target = { ...at, ...settings, ...(ca !== undefined && { tls: { ca } }) };
    const driver = await openDriver({ kind: 'sentinel', target }, { commandTimeoutMs: 5000 });
    return { driver, close: () => driver.close() };
  },
});

describe('connecting through Sentinels that cannot help', () => {
  it('says where they are and why, without the password', async () => {
    const [one, two] = [await findFreePort(), await findFreePort()];
    const sentinels = [one, two].map((port) => ({ host: '127.0.0.1', port }));
    const error = await failure(open({ sentinels, name: 'orders', sentinelPassword: 'secret' }));
    expect(error).toBeInstanceOf(DriverError);
    expect(error.message).toBe(
      `Cannot connect to the primary "orders" through the Sentinels at 127.0.0.1:${one}, 127.0.0.1:${two}: ` +
        `connect ECONNREFUSED 127.0.0.1:${one}. Check that the server runs, and that the client has its address`,
    );
    expect(classify(error)).toBe('transient');
  });

  describeWithProcess('with servers', () => {
    it('says what is wrong with the name or the passwords', async () => {
      const watched = await ownSentinels({ sentinels: 1, replicas: 0, downAfterMs: 600_000 });
      const [sentinel] = watched.sentinels as [TestServer];
      const [primary] = watched.servers as [TestServer];
      const where = { sentinels: watched.addresses, name: watched.name };
      const refusal = async (target: SentinelTarget) => {
        const error = await failure(open(target));
        expect(JSON.stringify([error.message, error.cause])).not.toContain('wr0ng');
        return error;
      };
      const unknown = await refusal({ ...where, name: 'nobody' });
      expect(unknown.message).toMatch(/: the Sentinel knows no primary named "nobody"$/);

      await primary.command('CONFIG', 'SET', 'requirepass', 'right');
      expect((await refusal({ ...where, password: 'wr0ng' })).message).toMatch(/: WRONGPASS /);
      const login = { ...where, password: 'right' };
      expect(await evalOn(await open(login), 'return 1', [], [])).toBe(1);

      await sentinel.command('ACL', 'SETUSER', 'default', 'resetpass', '>watcher');
      const wrong = await refusal({ ...login, sentinelPassword: 'wr0ng' });
      expect(wrong.message).toMatch(/: WRONGPASS /);
      expect(classify(wrong)).toBe('refused');
      const driver = await open({ ...login, sentinelPassword: 'watcher' });
      expect(await evalOn(driver, 'return 1', [], [])).toBe(1);
      await (await driver.openConnection('', new Listener())).ping();
    });

    it('asks another Sentinel when one is frozen or dead', async () => {
      const watched = await ownSentinels({ sentinels: 3, replicas: 0, downAfterMs: 600_000 });
      const [frozen, dead] = watched.sentinels as [TestServer, TestServer];
      await frozen.pause();
      await dead.kill();
      const driver = await open({ sentinels: watched.addresses, name: watched.name }, 3000);
      expect(await evalOn(driver, 'return 1', [], [])).toBe(1);
      await frozen.resume();
    });

    it('uses the database of the target, and leaves nothing open', async () => {
      const watched = await ownSentinels({ sentinels: 1, replicas: 0, downAfterMs: 600_000 });
      const [primary] = watched.servers as [TestServer];
      const connections = async () =>
        String(await primary.command('CLIENT', 'LIST')).match(/ name=holdfast .* db=\d/g) ?? [];
      const alive = () => process.getActiveResourcesInfo().filter((kind) => /TCP|Timeout/.test(kind));
      // What earlier tests closed may take a moment.
      await eventually(() => expect(alive()).toEqual([]));
      const target = { sentinels: watched.addresses, name: watched.name, db: 4 };
      const driver = await openDriver({ kind: 'sentinel', target }, { commandTimeoutMs: 5000 });
      const connection = await driver.openConnection('', new Listener());
      await connection.ping();
      expect((await connections()).map((line) => line.slice(-1))).toEqual(['4', '4']);
      await driver.close();
      await eventually(async () => expect(await connections()).toEqual([]));
      await eventually(() => expect(alive()).toEqual([]));
      const atSentinel = String(await (watched.sentinels[0] as TestServer).command('CLIENT', 'LIST'));
      expect(atSentinel).not.toMatch(/lib-name=ioredis|name=holdfast/);
    });
  });
});

describeWithProcess('a primary that Sentinels name by its host name', () => {
  it('receives that name in the TLS handshake of every connection', async () => {
    const { key, cert } = createCertificate();
    const names: unknown[] = [];
    let primary: TestServer | undefined;
    const secured = createTlsServer({ key, cert }, (socket) => {
      names.push(socket.servername);
      socket.on('error', () => {});
      socket
        .pipe(connect(primary?.port ?? 0, '127.0.0.1'))
        .on('error', () => {})
        .pipe(socket);
    });
    // The Sentinel itself speaks plain text.
    secured.on('tlsClientError', () => {});
    secured.listen(0, '127.0.0.1');
    await once(secured, 'listening');
    onTestFinished(() => void secured.close());
    const watched = await ownSentinels({
      sentinels: 1,
      replicas: 0,
      downAfterMs: 600_000,
      primaryAt: { host: 'localhost', port: (secured.address() as AddressInfo).port },
      sentinelLines: ['sentinel resolve-hostnames yes', 'sentinel announce-hostnames yes'],
    });
    [primary] = watched.servers;
    const where = { sentinels: watched.addresses, name: watched.name };
    const driver = await open({ ...where, tls: { ca: cert } });
    expect(await evalOn(driver, COUNT, ['key'], [])).toBe(1);
    const connection = await driver.openConnection('', new Listener());
    onTestFinished(() => connection.destroy());
    await connection.ping();
    expect(names).toEqual(['localhost', 'localhost']);
    // What the caller says goes before.
    const tls = { ca: cert, servername: 'other.example', checkServerIdentity: () => undefined };
    await open({ ...where, tls });
    expect(names.at(-1)).toBe('other.example');
  });
});

describeWithProcess('a fixed primary', () => {
  it('is used if it is a primary, and no other server is', async () => {
    const group = await ownReplicas({ replicas: 1 });
    const [primary, replica] = group.servers as [TestServer, TestServer];
    const openFixed = ({ port }: TestServer) =>
      openDriver({ kind: 'fixed', server: { port }, expectedReplicas: 1 }, { commandTimeoutMs: 5000 });
    const driver = await openFixed(primary);
    onTestFinished(() => driver.close());
    expect(await evalOn(driver, COUNT, ['key'], [])).toBe(1);
    expect(String(await replica.command('CLIENT', 'LIST'))).not.toContain('name=holdfast');

    const error = await failure(openFixed(replica));
    expect(error).toBeInstanceOf(DriverError);
    expect(error.message).toBe(
      `127.0.0.1:${replica.port} is listed as the master, but is a replica of 127.0.0.1:${primary.port}`,
    );
    await eventually(async () =>
      expect(String(await replica.command('CLIENT', 'LIST'))).not.toContain('name=holdfast'),
    );
  });

  it('is trusted by a user without permission to ask', async () => {
    const group = await ownReplicas({ replicas: 1 });
    const { primary } = group;
    await primary.command(
      'ACL',
      'SETUSER',
      'shy',
      'on',
      '>pw',
      '~*',
      '&*',
      '+@all',
      '-role',
      '-info',
      '-ping',
    );
    const server = { port: primary.port, username: 'shy', password: 'pw' };
    const driver = await openDriver(
      { kind: 'fixed', server, expectedReplicas: 1 },
      { commandTimeoutMs: 5000 },
    );
    onTestFinished(() => driver.close());
    expect(await evalOn(driver, COUNT, ['key'], [])).toBe(1);
  });
});
