/** A client is listened to without a listener that counts: what it does with its errors stays its own affair. */
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { expect, it, onTestFinished, vi } from 'vitest';
import { lastErrorOf, rememberErrors } from '../../../src/drivers/last-error.ts';
import { findFreePort } from '../../../src/embedded/free-port.ts';
import { Holdfast } from '../../../src/index.ts';

const REFUSED = { code: 'ECONNREFUSED' };

it('hears what the client reports, through one listener however many ask', async () => {
  const redis = new Redis({ host: '127.0.0.1', port: await findFreePort(), lazyConnect: true });
  onTestFinished(() => redis.disconnect());
  redis.on('error', () => {});
  for (let i = 0; i < 20; i += 1) rememberErrors(redis);
  expect(lastErrorOf(redis)).toBeUndefined();
  redis.connect().catch(() => undefined);
  await once(redis, 'error').catch(() => undefined);
  expect(lastErrorOf(redis)).toMatchObject(REFUSED);
  expect(redis.eventNames().map((event) => [event, redis.listenerCount(event)])).toContainEqual([
    expect.any(Symbol),
    1,
  ]);
});

it('leaves ioredis to print errors that nobody listens to', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => printed.mockRestore());
  const redis = new Redis({ host: '127.0.0.1', port: await findFreePort() });
  onTestFinished(() => redis.disconnect());
  const client = Holdfast.from(redis, { commandTimeoutMs: 200 });
  onTestFinished(() => client.close());
  const failure = await client
    .getLock('a')
    .tryLock()
    .catch((error: Error) => error);
  expect(failure).toMatchObject({ cause: REFUSED, message: expect.stringContaining('connect ECONNREFUSED') });
  expect(printed).toHaveBeenCalledWith('[ioredis] Unhandled error event:', expect.any(String));
  expect(redis.listenerCount('error')).toBe(0);
});

it('leaves node-redis without a listener to throw, before and after holdfast closes', async () => {
  const redis = createClient({ socket: { host: '127.0.0.1', port: 1, reconnectStrategy: false } });
  rememberErrors(redis);
  expect(redis.listenerCount('error')).toBe(0);
  const error = new Error('nobody listens');
  expect(() => redis.emit('error', error)).toThrow(error);
  expect(lastErrorOf(redis)).toBe(error);
  const heard: unknown[] = [];
  redis.on('error', (reason) => heard.push(reason));
  await redis.connect().catch(() => undefined);
  expect(heard).toMatchObject([REFUSED]);
  expect(lastErrorOf(redis)).toBe(heard[0]);
});
