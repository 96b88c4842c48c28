/**
 * Makes one call, tells how it settled, and then ends because nothing is left to do: `pending.ts <url> <name> <call>`.
 * While it waits for that call its sockets do not keep it alive, so that only timers can.
 */
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { Holdfast } from '../../../src/index.ts';
import { tell } from '../../harness/in-child.ts';
import { watchSockets } from '../../harness/loose-sockets.ts';

const [url = '', name = '', call = ''] = process.argv.slice(2);
const SHORT_MS = 300;
const OPTIONS = { commandTimeoutMs: 800 };

const letGoOfSockets = watchSockets();

function open() {
  const redis = new Redis(url);
  const client = Holdfast.from(redis, OPTIONS);
  return { redis, client, lock: client.getLock(name) };
}

/** A lock that is held, on a server that answers nobody any more. */
async function frozen() {
  const { redis, client, lock } = open();
  const hold = await lock.lock();
  await redis.client('PAUSE', 60_000, 'ALL');
  return { client, hold };
}

/** Each does what has to be done before, and answers the call. */
const CALLS: Record<string, () => Promise<() => Promise<unknown>>> = {
  'lock() behind a lease': async () => {
    const { lock } = open();
    await lock.lock({ leaseMs: SHORT_MS });
    return async () => (await lock.lock()).name === name;
  },
  'lock() of a spin lock': async () => {
    const lock = open().client.getSpinLock(name);
    await lock.lock({ leaseMs: SHORT_MS });
    return async () => (await lock.lock()).name === name;
  },
  'tryLock() with a limit': async () => {
    const { lock } = open();
    await lock.lock();
    return () => lock.tryLock({ waitMs: SHORT_MS });
  },
  'tryLock() of a red lock': async () => {
    const [one, two] = [open(), open()];
    await one.lock.lock();
    return () => two.client.getRedLock(two.lock).tryLock({ waitMs: SHORT_MS });
  },
  'acquire() of a rate limiter': async () => {
    const limiter = open().client.getRateLimiter(name);
    await limiter.trySetRate({ mode: 'overall', rate: 1, intervalMs: SHORT_MS });
    await limiter.acquire();
    return () => limiter.acquire().then(() => true);
  },
  'await() of a latch': async () => {
    const latch = open().client.getCountDownLatch(name);
    await latch.trySetCount(1);
    return () => latch.await({ waitMs: SHORT_MS });
  },
  'tryLock() of a frozen server': async () => {
    const { client } = await frozen();
    return () => client.getLock(`${name}:2`).tryLock();
  },
  'unlock() of a frozen server': async () => {
    const { hold } = await frozen();
    return () => hold.unlock();
  },
  'inspect() of a frozen server': async () => {
    const { client } = await frozen();
    return () => client.inspect(name);
  },
  'health() of a frozen server': async () => {
    const { client } = await frozen();
    return async () => (await client.health()).status;
  },
  'close() beside a frozen server': async () => {
    const { client } = await frozen();
    return () => client.close().then(() => true);
  },
  'connect() to a frozen server': async () => {
    await frozen();
    return () => Holdfast.connect(url, OPTIONS);
  },
  'lock() through a client that was closed': async () => {
    const redis = createClient({ url });
    await redis.connect();
    const client = Holdfast.from(redis, OPTIONS);
    await client.getLock(name).lock();
    redis.destroy();
    return () => client.getLock(`${name}:2`).lock();
  },
};

let settledAt = Number.NaN;
process.on('exit', () => tell({ lingeredMs: performance.now() - settledAt }));

function settle(outcome: unknown): void {
  settledAt = performance.now();
  tell({ settled: outcome });
}

async function main(): Promise<void> {
  const pending = await CALLS[call]?.();
  letGoOfSockets();
  await pending?.().then(settle, (error: { code: string }) => settle(error.code));
}

// Not awaited here: Node warns of an unsettled await at the top level of a module, and of no other.
void main();
