/** Every row of the table of messages in the guide: what is wrong, what the error says, and what to do. */
import { inspect } from 'node:util';
import { GlideClient } from '@valkey/valkey-glide';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../src/embedded/free-port.ts';
import { Holdfast, HoldfastError } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { startReplicas } from '../harness/replicas.ts';
import { describeWithProcess, openRaw, ownServer, sharedCluster } from '../harness/servers.ts';
import { startTlsServer, type TlsServer } from '../harness/tls-server.ts';
import { glideConfig } from '../harness/valkey-glide.ts';
import { SLACK_MS, timed } from './support/arena.ts';
import { readMessageRows } from './support/message-rows.ts';

const COMMAND_TIMEOUT_MS = 1_000;
const SECRET = 'wr0ng-s3cret';
const ROWS = readMessageRows();
const TRIED = new Set<string>();

interface Place {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: object;
}

/** Ways to use a server, with a client that is on its way when holdfast gets it. */
const WAYS = {
  'Holdfast.connect': (place: Place) => Holdfast.connect(place, { commandTimeoutMs: COMMAND_TIMEOUT_MS }),
  ioredis: async (place: Place) => {
    const redis = new Redis(place);
    redis.on('error', () => {});
    onTestFinished(() => redis.disconnect());
    return from(redis);
  },
  'node-redis': async ({ host, port, tls, ...login }: Place) => {
    const socket = tls === undefined ? { host, port } : { host, port, tls: true as const, ...tls };
    const redis = createClient({ socket, ...login });
    redis.on('error', () => {});
    redis.connect().catch(() => undefined);
    onTestFinished(() => {
      if (redis.isOpen) redis.destroy();
    });
    return from(redis);
  },
  'Valkey GLIDE': async ({ tls: _, ...place }: Place) => {
    const glide = await GlideClient.createClient(glideConfig(place));
    onTestFinished(() => glide.close());
    return from(glide);
  },
};
type Way = keyof typeof WAYS;

/** GLIDE tells nobody why it does not connect, and refuses to be made. */
const THAT_CONNECT: readonly Way[] = ['Holdfast.connect', 'ioredis', 'node-redis'];
const ALL = Object.keys(WAYS) as Way[];

function from(client: Parameters<typeof Holdfast.from>[0]): Holdfast {
  return Holdfast.from(client, { commandTimeoutMs: COMMAND_TIMEOUT_MS });
}

function quiet(client: Holdfast): Holdfast {
  client.on('warning', () => {});
  onTestFinished(() => client.close());
  return client;
}

/** Connects, takes the lock, and returns the error of that. It comes in time. */
async function failure(way: Way, place: Place, name = 'orders'): Promise<HoldfastError> {
  const attempt = async () => {
    const client = quiet(await WAYS[way](place));
    await client.getLock(name).tryLock();
  };
  const { error, tookMs } = await timed(attempt());
  expect(error).toBeInstanceOf(HoldfastError);
  expect(tookMs).toBeLessThan(COMMAND_TIMEOUT_MS + SLACK_MS);
  return error as HoldfastError;
}

/** The error says what the row says, and has no password anywhere. */
function check(row: string, error: HoldfastError): void {
  TRIED.add(row);
  const { says, remedy } = ROWS.get(row) ?? expect.unreachable(`the guide has no row "${row}"`);
  expect(says.some((text) => text.test(error.message)) ? '' : error.message).toBe('');
  expect(error.message).toContain(remedy);
  expect(inspect(error, { depth: 10 })).not.toContain(SECRET);
}

function placeOf({ host, port }: TestServer): Place {
  return { host, port };
}

async function user(server: TestServer, ...rules: string[]): Promise<Place> {
  await server.command('ACL', 'SETUSER', 'limited', 'reset', 'on', `>${SECRET}`, ...rules);
  return { ...placeOf(server), username: 'limited', password: SECRET };
}

async function ownTls(): Promise<TlsServer> {
  const binary = inject('serverBinary');
  const server = await startTlsServer(binary === null ? {} : { binary });
  onTestFinished(() => server.close());
  return server;
}

describeWithProcess('an error that says it', () => {
  describe.each(THAT_CONNECT)('with %s', (way) => {
    it('the server is down', async () => {
      const place = { host: '127.0.0.1', port: await findFreePort() };
      const error = await failure(way, place);
      check('the server is down, or the address is wrong', error);
      expect(error.message).toContain(`connect ECONNREFUSED 127.0.0.1:${place.port}`);
      expect(error.cause).toMatchObject({ code: 'ECONNREFUSED', port: place.port });
      expect(error.code).toBe(way === 'Holdfast.connect' ? 'ERR_DRIVER' : 'ERR_OUTCOME_UNKNOWN');
    });

    it('the server goes down later', async () => {
      const server = await ownServer();
      const client = quiet(await WAYS[way](placeOf(server)));
      const lock = client.getLock('orders');
      await (await lock.lock()).unlock();
      await server.kill();
      const row = 'the server is down, or the address is wrong';
      // The first error after the break may be that of the break.
      await expect
        .poll(async () => (await lock.tryLock().catch((error: Error) => error.cause)) as Error)
        .toMatchObject({ code: 'ECONNREFUSED' });
      const { error } = await timed(lock.tryLock());
      expect((error as Error).message).toMatch(
        /client is not connected \(.*\); its last error: connect ECONNREFUSED/,
      );
      check(row, error as HoldfastError);
    });

    it('no password', async () => {
      const server = await ownServer({ args: ['--requirepass', 'right'] });
      const error = await failure(way, placeOf(server));
      check('the client has no password', error);
      expect(error).toMatchObject({
        code: 'ERR_DRIVER',
        cause: { message: expect.stringMatching(/^NOAUTH/) },
      });
    });

    it('a wrong password', async () => {
      const server = await ownServer({ args: ['--requirepass', 'right'] });
      const error = await failure(way, { ...placeOf(server), password: SECRET });
      check('the password is wrong', error);
      // What node-redis has queued is sent after the refused login, and refused by itself.
      const refusal = way === 'node-redis' ? /^(?:WRONGPASS|NOAUTH)/ : /^WRONGPASS/;
      expect(error.cause).toMatchObject({ message: expect.stringMatching(refusal) });
    });

    it('TLS at a plain port', async () => {
      const server = await ownServer();
      const tls = { rejectUnauthorized: false };
      check('the client speaks TLS, the port does not', await failure(way, { ...placeOf(server), tls }));
    });

    it('no TLS at a port for TLS', async () => {
      const { host, port } = await ownTls();
      check('the port expects TLS, the client has none', await failure(way, { host, port }));
    });

    it('a certificate that nobody vouches for', async () => {
      const { host, port } = await ownTls();
      const error = await failure(way, { host, port, tls: {} });
      check('nobody the client trusts signed the certificate', error);
      expect(error.cause).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    });

    it('a replica', async () => {
      const binary = inject('serverBinary');
      const group = await startReplicas(binary === null ? { replicas: 1 } : { replicas: 1, binary });
      onTestFinished(() => group.close());
      const { host, port } = (group.replicas[0] as (typeof group.replicas)[number]).server;
      const error = await failure(way, { host, port });
      check('the server is a replica', error);
      expect(error.code).toBe('ERR_DRIVER');
    });

    it('a node of a Cluster that does not say so', async () => {
      const [{ host, port } = expect.unreachable()] = (await sharedCluster()).addresses;
      const node = await openRaw(host, port);
      const username = randomName();
      await node.command('ACL', 'SETUSER', username, 'on', `>${SECRET}`, '~*', '&*', '+@all', '-info');
      onTestFinished(async () => void (await node.command('ACL', 'DELUSER', username)));
      const isElsewhere = (name: string) =>
        node.command('EXISTS', name).then(
          () => false,
          () => true,
        );
      let name = randomName();
      while (!(await isElsewhere(name))) name = randomName();
      const error = await failure(way, { host, port, username, password: SECRET }, name);
      check('the server is a node of a Cluster, the client is for one server', error);
      expect(error).toMatchObject({
        code: 'ERR_DRIVER',
        cause: { message: expect.stringMatching(/^MOVED/) },
      });
    });
  });

  describe.each(ALL)('with %s', (way) => {
    it('a key of another type', async () => {
      const server = await ownServer();
      await server.command('RPUSH', 'orders', 'a');
      const error = await failure(way, placeOf(server));
      check('the key holds another type', error);
      expect(error).toMatchObject({
        code: 'ERR_DRIVER',
        cause: { message: expect.stringMatching(/^WRONGTYPE/) },
      });
      expect(await server.command('LRANGE', 'orders', 0, -1)).toEqual(['a']);
    });

    it('a key that holds no lock, and one of a semaphore', async () => {
      const server = await ownServer();
      const client = quiet(await WAYS[way](placeOf(server)));
      await server.command('HSET', 'orders', 'name', 'Ada');
      const forced = await timed(client.getLock('orders').forceUnlock());
      check('the key holds something else of that type', forced.error as HoldfastError);
      await server.command('SET', 'tickets', 'many');
      const { error } = await timed(client.getSemaphore('tickets').tryAcquire());
      expect((error as Error).message).toContain(
        'the key "tickets" holds something that is not a number of permits; holdfast did not change it',
      );
    });

    it('a node of a Cluster', async () => {
      const [node] = (await sharedCluster()).addresses;
      const client = await timed(WAYS[way](node as Place).then(quiet));
      // A name of this node may be granted before the client knows what the server is.
      const asked = client.error ?? (await timed((client.value as Holdfast).capabilities())).error;
      check('the server is a node of a Cluster, the client is for one server', asked as HoldfastError);
    });

    it('a command that the user may not run', async () => {
      const server = await ownServer();
      const hset = await failure(way, await user(server, '~*', '&*', '+@all', '-hset'));
      check('the user may not run a command of a script', hset);
      const scripts = await failure(way, await user(server, '~*', '&*', '+@all', '-evalsha', '-eval'));
      check('the user may not run scripts', scripts);
    });

    it('keys that the user may not use, until the rules of the message are set', async () => {
      const server = await ownServer();
      const place = await user(server, '~mine:*', '&*', '+@all');
      const error = await failure(way, place);
      check('the user may not use the keys', error);
      const rules = /ACL SETUSER <user> (.*)$/.exec(error.message)?.[1]?.split(' ') ?? [];
      await server.command('ACL', 'SETUSER', 'limited', ...rules);
      const client = quiet(await WAYS[way](place));
      expect(await (await client.getFairLock('orders').lock()).unlock()).toBe(true);
      expect(
        await client
          .getReadWriteLock('orders')
          .readLock()
          .withLock(() => 'read'),
      ).toBe('read');
    });
  });

  it.each([
    [
      'ioredis',
      async ({ host, port }: Place) => {
        const redis = new Redis({ host, port });
        return { client: redis, close: () => redis.quit() };
      },
    ],
    [
      'node-redis',
      async ({ host, port }: Place) => {
        const redis = await createClient({ socket: { host, port } })
          .on('error', () => {})
          .connect();
        return { client: redis, close: () => redis.close() };
      },
    ],
    [
      'Valkey GLIDE',
      async (place: Place) => {
        const glide = await GlideClient.createClient(glideConfig(place));
        return { client: glide, close: async () => glide.close() };
      },
    ],
  ])('a client that was closed: %s', async (_, open) => {
    const server = await ownServer();
    const { client: redis, close } = await open(server);
    const client = quiet(from(redis as never));
    await (await client.getLock('orders').lock()).unlock();
    await close();
    const { error, tookMs } = await timed(client.getLock('orders').tryLock());
    expect(tookMs).toBeLessThan(COMMAND_TIMEOUT_MS + SLACK_MS);
    check('your client is closed', error as HoldfastError);
    // One that is closed already is refused at once.
    expect(() => Holdfast.from(redis as never)).toThrow(/^This .* client is (?:not connected|closed): /);
  });

  it('each row of the guide', () => {
    expect([...ROWS.keys()].filter((row) => !TRIED.has(row))).toEqual([]);
  });
});
