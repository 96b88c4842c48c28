/**
 * A client that its user has put into a transaction. The server answers QUEUED and runs the script at EXEC: a call must
 * not say that nothing happened, and what its caller was not granted is taken back.
 */
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { Redis as Iovalkey } from 'iovalkey';
import { createClient } from 'redis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast, OutcomeUnknownError } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { arena, join, leftovers, timed } from './support/arena.ts';

interface User {
  readonly client: Holdfast;
  multi(): Promise<unknown>;
  exec(): Promise<unknown>;
}

// The answer QUEUED has to come before the time-out, also on a busy machine.
const OPTIONS = { commandTimeoutMs: 10_000, replicas: 0 };

function ofIoredis(create: (port: number) => Redis | Redis5 | Iovalkey) {
  return async ({ port }: TestServer): Promise<User> => {
    const redis = create(port);
    const client = Holdfast.from(redis, OPTIONS);
    onTestFinished(async () => {
      await client.close();
      redis.disconnect();
    });
    return {
      client,
      multi: () => (redis as Redis).multi({ pipeline: false }),
      exec: () => (redis as Redis).exec(),
    };
  };
}

async function ofNodeRedis({ host, port }: TestServer): Promise<User> {
  const redis = createClient({ socket: { host, port } });
  await redis.connect();
  const client = Holdfast.from(redis, OPTIONS);
  onTestFinished(async () => {
    await client.close();
    redis.destroy();
  });
  return { client, multi: () => redis.sendCommand(['MULTI']), exec: () => redis.sendCommand(['EXEC']) };
}

describeWithProcess('a client inside a transaction of its user', () => {
  describe.each<[string, (server: TestServer) => Promise<User>]>([
    ['ioredis 6', ofIoredis((port) => new Redis(port))],
    ['ioredis 5', ofIoredis((port) => new Redis5(port))],
    ['iovalkey', ofIoredis((port) => new Iovalkey(port))],
    ['node-redis 6', ofNodeRedis],
  ])('%s', (_, open) => {
    async function setUp() {
      const { server } = await arena();
      const name = randomName();
      const user = await open(server);
      await user.client.getLock(name).isLocked();
      return { server, name, ...user };
    }

    it('a lock that is taken at EXEC is released', async () => {
      const { server, name, client, multi, exec } = await setUp();
      await multi();
      const { error } = await timed(client.getLock(name).tryLock());
      expect(error).toBeInstanceOf(OutcomeUnknownError);
      expect((error as Error).message).toContain('QUEUED');
      await exec();
      await eventually(async () => {
        const keys = [...(await leftovers(server)).keys()];
        return !keys.includes(name) && keys.some((key) => key.startsWith('redisson_unlock_latch:'));
      });
      const rival = await join('Holdfast.connect', server);
      expect(await rival.getLock(name).tryLock()).not.toBeNull();
    });

    it('permits that are taken at EXEC are returned, and a release counts once', async () => {
      const { server, name, client, multi, exec } = await setUp();
      const semaphore = client.getSemaphore(name);
      await server.command('SET', name, 5);
      await multi();
      expect((await timed(semaphore.tryAcquire(3))).error).toBeInstanceOf(OutcomeUnknownError);
      await exec();
      await eventually(async () => (await server.command('GET', name)) === '5');
      await multi();
      expect((await timed(semaphore.release(2))).error).toBeInstanceOf(OutcomeUnknownError);
      await exec();
      expect(await server.command('GET', name)).toBe('7');
      expect(await eventually(() => semaphore.availablePermits())).toBe(7);
    });
  });
});
