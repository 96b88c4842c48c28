/**
 * Sentinels make another server the primary, and the old one goes on taking writes: what the drivers do at that
 * moment, and what they make of Sentinels that know less, are shy, or cannot be reached.
 */

import { once } from 'node:events';
import { type AddressInfo, connect as connectTo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey } from 'iovalkey';
import { createSentinel } from 'redis';
import { createSentinel as createSentinel5 } from 'redis5';
import { expect, it, onTestFinished } from 'vitest';
import { SystemClock } from '../../src/clock.ts';
import type { SentinelTarget } from '../../src/drivers/address.ts';
import { withCallTimeout } from '../../src/drivers/call-timeout.ts';
import { openDriver } from '../../src/drivers/connect.ts';
import { detectDriver } from '../../src/drivers/detect.ts';
import type { Driver } from '../../src/drivers/driver.ts';
import { DriverError } from '../../src/errors.ts';
import { classify } from '../../src/outcome.ts';
import type { FaultProxy, TestServer } from '../../src/testing/index.ts';
import { createCertificate } from '../harness/certificate.ts';
import { randomName } from '../harness/names.ts';
import { evalOn } from '../harness/script-calls.ts';
import { switchPrimary } from '../harness/sentinel-switch.ts';
import type { TestSentinels } from '../harness/sentinels.ts';
import { describeWithProcess, ownProxy } from '../harness/servers.ts';
import { ownSentinels } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { failure, Listener } from './parts/driver-contract.ts';

const PORT = "return tonumber(string.match(redis.call('info', 'server'), 'tcp_port:(%d+)'))";
const COUNT = "return redis.call('incr', KEYS[1])";
const SECOND = { withinMs: 1_000 };
/** node-redis pauses for a second itself when the Sentinel is not connected to the new primary yet. */
const SECONDS = { withinMs: 3_000 };

type Sentinels = { name: string; sentinels: { host: string; port: number }[] };
type IoredisClass = new (options: object) => Redis;

/** The classes of ioredis and iovalkey, which are used alike. */
const IOREDIS = {
  'ioredis 6': Redis,
  'ioredis 5': Redis5 as unknown as IoredisClass,
  iovalkey: Valkey as unknown as IoredisClass,
};

/** A driver over a client of the user's, both closed at the end of the test. */
async function ofIoredis(Client: IoredisClass, options: object): Promise<Driver> {
  const client = new Client(options);
  client.on('error', () => {});
  await client.ping();
  return closedAtEnd(detectDriver(client), () => client.disconnect());
}

async function ofNodeRedis(create: typeof createSentinel, { name, sentinels }: Sentinels): Promise<Driver> {
  const client = create({ name, sentinelRootNodes: sentinels });
  client.on('error', () => {});
  await client.connect();
  return closedAtEnd(detectDriver(client), () => client.destroy());
}

function closedAtEnd(driver: Driver, then: () => unknown = () => {}): Driver {
  onTestFinished(async () => {
    await driver.close();
    await then();
  });
  return driver;
}

async function open(target: SentinelTarget, commandTimeoutMs = 3_000): Promise<Driver> {
  return closedAtEnd(await openDriver({ kind: 'sentinel', target }, { commandTimeoutMs }));
}

const DRIVERS: Record<string, (at: Sentinels) => Promise<Driver>> = {
  ...Object.fromEntries(
    Object.entries(IOREDIS).map(([title, Client]) => [title, (at: Sentinels) => ofIoredis(Client, at)]),
  ),
  'node-redis 6': (at) => ofNodeRedis(createSentinel, at),
  'node-redis 5': (at) => ofNodeRedis(createSentinel5 as unknown as typeof createSentinel, at),
  'a connection of our own': open,
};

const where = ({ name, addresses }: TestSentinels): Sentinels => ({ name, sentinels: addresses });

/** Scripts, and connections that are opened from now on, are answered by that server. */
async function expectAt(driver: Driver, server: TestServer): Promise<void> {
  const bounded = withCallTimeout(driver, new SystemClock(), 500);
  expect(await evalOn(bounded, PORT, [], [])).toBe(server.port);
  const connection = await bounded.openConnection('', new Listener());
  expect(await connection.send(['EVAL', PORT, '0'])).toBe(server.port);
  connection.destroy();
}

async function expectInOffice(server: TestServer): Promise<void> {
  expect(await server.command('SET', randomName(), '', 'PX', 10)).toBe('OK');
}

describeWithProcess('a switch that the old primary does not notice', () => {
  it.each(Object.entries(DRIVERS))('%s: is followed, and reported once', async (title, connect) => {
    const watched = await ownSentinels();
    const driver = await connect(where(watched));
    const former = await watched.primary();
    await expectAt(driver, former);
    const listener = new Listener();
    const connection = await driver.openConnection('', listener);
    await connection.subscribe('channel', 'plain');
    let switches = 0;
    driver.onSwitched?.(() => {
      switches += 1;
    });
    const { promoted } = await switchPrimary(watched);
    await eventually(() => expectAt(driver, promoted), title.startsWith('node-redis') ? SECONDS : SECOND);
    expect(listener.downs).toHaveLength(1);
    expect(switches).toBe(1);
    await expectInOffice(former);
  });

  it.each(Object.entries(IOREDIS))(
    '%s, with translated addresses: the outcome of a running script is unknown',
    async (_, Client) => {
      const watched = await ownSentinels();
      const former = await watched.primary();
      const proxies = await Promise.all(watched.servers.map(ownProxy));
      const mapped = watched.servers.map(({ host, port }, i) => [
        `${host}:${port}`,
        { host, port: proxies[i]?.port },
      ]);
      const options = { ...where(watched), natMap: Object.fromEntries(mapped) };
      const driver = await ofIoredis(Client, options);
      const connection = await driver.openConnection('', new Listener());
      const [proxy] = proxies as [FaultProxy];
      const held = [proxy.holdRequest('by the client'), proxy.holdRequest('by the connection')];
      const late = [
        failure(evalOn(driver, COUNT, ['by the client'], [])),
        failure(connection.send(['EVAL', COUNT, '1', 'by the connection'])),
      ];
      await Promise.all(held.map((request) => request.held));
      const { promoted } = await switchPrimary(watched);
      await eventually(() => expectAt(driver, promoted), SECOND);
      for (const request of held) request.release();
      for (const error of await Promise.all(late)) expect(classify(error)).toBe('unknown');
      // Both did run, where nobody will look.
      await eventually(async () => expect(await former.command('GET', 'by the client')).toBe('1'));
      await eventually(async () => expect(await former.command('GET', 'by the connection')).toBe('1'));
    },
  );

  it('a Sentinel that returns with old knowledge leads no client back', async () => {
    const watched = await ownSentinels();
    const former = await watched.primary();
    const driver = await open(where(watched));
    const [forgetful, ...others] = watched.sentinels as [TestServer, TestServer, TestServer];
    await forgetful.kill();
    const { promoted } = await switchPrimary(watched, others);
    await eventually(() => expectAt(driver, promoted), SECOND);
    // The others are silent, so that nobody tells it.
    await Promise.all(others.map((sentinel) => sentinel.pause()));
    await forgetful.restart();
    const isHeard = async () =>
      / name=holdfast .* sub=1 /.test(String(await forgetful.command('CLIENT', 'LIST')));
    await eventually(isHeard);
    const named = await forgetful.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', watched.name);
    expect(named).toEqual(['127.0.0.1', String(former.port)]);
    await expectAt(driver, promoted);
    await Promise.all(others.map((sentinel) => sentinel.resume()));
  });

  it('Sentinels that permit only the query of the address are asked often', async () => {
    const watched = await ownSentinels({ sentinels: 1 });
    const [sentinel] = watched.sentinels as [TestServer];
    const allowed = ['+auth', '+hello', '+ping', '+client', '+sentinel|get-master-addr-by-name'];
    await sentinel.command('ACL', 'SETUSER', 'shy', 'on', '>pw', '-@all', ...allowed);
    const driver = await open({ ...where(watched), sentinelUsername: 'shy', sentinelPassword: 'pw' });
    await expectAt(driver, await watched.primary());
    const { promoted } = await switchPrimary(watched);
    await eventually(() => expectAt(driver, promoted), SECOND);
  });

  it('Sentinels behind TLS are subscribed to with their own TLS settings', async () => {
    const watched = await ownSentinels({ sentinels: 1 });
    const [sentinel] = watched.sentinels as [TestServer];
    const { key, cert } = createCertificate();
    const secured = createTlsServer({ key, cert }, (socket) => {
      socket.on('error', () => {});
      socket
        .pipe(connectTo(sentinel.port, sentinel.host))
        .on('error', () => {})
        .pipe(socket);
    });
    secured.listen(0, '127.0.0.1');
    await once(secured, 'listening');
    onTestFinished(() => void secured.close());
    const sentinels = [{ host: 'localhost', port: (secured.address() as AddressInfo).port }];
    const drivers = [
      await open({ name: watched.name, sentinels, sentinelTls: { ca: cert } }),
      await ofIoredis(Redis, { name: watched.name, sentinels, sentinelTLS: { ca: cert } }),
    ];
    for (const driver of drivers) await expectAt(driver, await watched.primary());
    const { promoted } = await switchPrimary(watched);
    for (const driver of drivers) await eventually(() => expectAt(driver, promoted), SECOND);
  });

  it('Sentinels that are all frozen: the start fails in time', async () => {
    const watched = await ownSentinels({ sentinels: 2, replicas: 0 });
    await Promise.all(watched.sentinels.map((sentinel) => sentinel.pause()));
    const startedAt = performance.now();
    expect(await failure(open(where(watched), 900))).toBeInstanceOf(DriverError);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    await Promise.all(watched.sentinels.map((sentinel) => sentinel.resume()));
  });

  it("a driver over the user's client leaves no connection to a Sentinel when it is closed", async () => {
    const watched = await ownSentinels({ sentinels: 1, replicas: 0 });
    const [sentinel] = watched.sentinels as [TestServer];
    const driver = await ofIoredis(Redis, { ...where(watched), connectionName: 'brought' });
    const connections = async () =>
      String(await sentinel.command('CLIENT', 'LIST')).match(/ name=brought .*/g);
    await evalOn(driver, 'return 1', [], []);
    await eventually(async () => expect(await connections()).toMatchObject([/ sub=1 /]));
    await driver.close();
    await eventually(async () => expect(await connections()).toBeNull());
  });
});
