/**
 * The cycles that are counted: alone, handed over between two clients, passed on inside a process.
 */
import type { Redis } from 'ioredis';
import type { ClientOptions, Hold, Holdfast } from '../../../src/index.ts';
import { openSeat, type Scene } from './cycles.ts';
import type { Meter } from './meter.ts';

/** Resolves in a turn of the event loop that begins without a command under way: what was asked has been answered. */
export function answered({ commandQueue }: Redis, meter?: Meter): Promise<void> {
  return new Promise((resolve) => {
    const look = () => (commandQueue.length === 0 ? resolve() : lookLater());
    const lookLater = () => {
      if (meter === undefined) setImmediate(look);
      else meter.uncounted(() => setImmediate(look));
    };
    lookLater();
  });
}

/** One task takes a lock that is free, and releases it. */
export function openFree(
  url: string,
  get: (client: Holdfast) => { lock(): Promise<Hold> },
  options: ClientOptions = {},
): Scene {
  const seat = openSeat(url, options);
  const lock = get(seat.client);
  return {
    seats: [seat],
    async cycle() {
      const hold = await lock.lock();
      await hold.unlock();
    },
  };
}

/** The same as a section. */
export function openSection(url: string): Scene {
  const seat = openSeat(url);
  const lock = seat.client.getLock('counts');
  const work = () => undefined;
  return { seats: [seat], cycle: () => lock.withLock(work) };
}

/** One task takes a permit that is free, and gives it back. */
export async function openPermit(url: string): Promise<Scene> {
  const seat = openSeat(url);
  const semaphore = seat.client.getSemaphore('counts:permits');
  await semaphore.trySetPermits(1);
  return {
    seats: [seat],
    async cycle() {
      await semaphore.acquire();
      await semaphore.release();
    },
  };
}

/** The same with a lease. */
export async function openLeasedPermit(url: string): Promise<Scene> {
  const seat = openSeat(url);
  const semaphore = seat.client.getPermitExpirableSemaphore('counts:leased-permits');
  await semaphore.trySetPermits(1);
  return {
    seats: [seat],
    async cycle() {
      const permit = await semaphore.acquire();
      await permit.release();
    },
  };
}

/** One task takes a permit of a window that does not end while it counts. */
export async function openRate(url: string): Promise<Scene> {
  const seat = openSeat(url);
  const limiter = seat.client.getRateLimiter('counts:rate');
  await limiter.trySetRate({ mode: 'overall', rate: 1_000_000, intervalMs: 3_600_000 });
  return { seats: [seat], cycle: () => limiter.acquire() };
}

/** A client waits for what another has; the other releases it, and the first gets it. */
export function openHandedOver(url: string, meter: Meter): Scene {
  const [holder, waiter] = [openSeat(url), openSeat(url)];
  const [held, wanted] = [holder.client.getLock('counts'), waiter.client.getLock('counts')];
  return {
    seats: [holder, waiter],
    async cycle() {
      const hold = await held.lock();
      const waiting = wanted.lock();
      await answered(waiter.redis, meter);
      await hold.unlock();
      await (await waiting).unlock();
    },
  };
}

/** Tasks of one process hand the lock to each other; some always wait. */
export async function openPassedOn(url: string): Promise<Scene> {
  const seat = openSeat(url, { passOn: { maxMs: 60_000, maxHolds: 1_000_000 } });
  const lock = seat.client.getLock('counts');
  let hold: Hold = await lock.lock();
  const waiting = [lock.lock(), lock.lock(), lock.lock()];
  return {
    seats: [seat],
    async cycle() {
      const next = waiting.shift() as Promise<Hold>;
      waiting.push(lock.lock());
      await hold.unlock();
      hold = await next;
    },
    async finish() {
      for (const next of waiting) {
        await hold.unlock();
        hold = await next;
      }
      await hold.unlock();
    },
  };
}
