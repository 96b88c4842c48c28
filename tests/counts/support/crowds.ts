/**
 * Many of one kind at once: which objects each of them keeps on the heap.
 */
import { setTimeout } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Hold } from '../../../src/index.ts';
import type { Figures } from './compare.ts';
import { leaveSeat, openSeat } from './cycles.ts';
import { type Heap, readHeap } from './heap.ts';
import { answered } from './scenes.ts';

const EACH = 1_000;

/** What each of so many added; what only some of them have is rounded away, since anything may make a few objects. */
function each(before: Heap, after: Heap): Figures {
  const grown = Object.entries(after.objects).map(([title, count]) => {
    return [title, Math.round((count - (before.objects[title] ?? 0)) / EACH)] as const;
  });
  const bytes = Math.round((after.bytes - before.bytes) / EACH);
  return { ...Object.fromEntries(grown.filter(([, count]) => count !== 0)), bytes };
}

function numbers(): number[] {
  return Array.from({ length: EACH }, (_, i) => i);
}

/** Long enough that a stalled machine loses no hold, and short enough to wait for a renewal, at a third of it. */
const WATCHDOG_MS = 9_000;

/** Resolves when each hold can be relied on for longer than when this was called. */
async function renewed(holds: readonly Hold[]): Promise<void> {
  const endOf = ({ remainingMs }: Hold) => performance.now() + remainingMs;
  const ends = holds.map(endOf);
  const isRenewed = (hold: Hold, i: number) => endOf(hold) > (ends[i] as number) + WATCHDOG_MS / 10;
  while (!holds.every(isRenewed)) await setTimeout(WATCHDOG_MS / 100);
}

/** A hold of a reentrant lock that the watchdog renews: as it begins, or after its first renewal. */
export async function costOfHold(url: string, when: 'new' | 'renewed'): Promise<Figures> {
  const seat = openSeat(url, { watchdogMs: WATCHDOG_MS });
  const locks = numbers().map((i) => seat.client.getLock(`counts:held:${i}`));
  await (await seat.client.getLock('counts:first').lock()).unlock();
  const before = await readHeap();
  const holds = await Promise.all(locks.map((lock) => lock.lock()));
  if (when === 'renewed') await renewed(holds);
  const after = await readHeap();
  await Promise.all(holds.map((hold) => hold.unlock()));
  await leaveSeat(seat);
  return each(before, after);
}

/** A task that waits for a lock, behind others of its process. */
export async function costOfWaiter(url: string): Promise<Figures> {
  const seat = openSeat(url);
  const lock = seat.client.getLock('counts:crowd');
  let hold = await lock.lock();
  const first = lock.lock();
  await answered(seat.redis);
  const before = await readHeap();
  const waiting = numbers().map(() => lock.lock());
  const after = await readHeap();
  for (const next of [first, ...waiting]) {
    await hold.unlock();
    hold = await next;
  }
  await hold.unlock();
  await leaveSeat(seat);
  return each(before, after);
}

/** A lock that another client holds and one task waits for. */
export async function costOfWaitedFor(url: string, server: Redis): Promise<Figures> {
  const [holder, waiter] = [openSeat(url), openSeat(url)];
  const names = numbers().map((i) => `counts:waited-for:${i}`);
  const holds = await Promise.all(names.map((name) => holder.client.getLock(name).lock()));
  const last = await holder.client.getLock('counts:last').lock();
  const locks = names.map((name) => waiter.client.getLock(name));
  const before = await readHeap();
  const waiting = locks.map((lock) => lock.lock());
  // Its connection hears of the last lock's release after it has heard of all subscriptions made before.
  const waitingForLast = waiter.client.getLock('counts:last').lock();
  while ((await server.pubsub('NUMSUB', 'redisson_lock__channel:{counts:last}'))[1] !== 1);
  await last.unlock();
  await (await waitingForLast).unlock();
  await answered(waiter.redis);
  const after = await readHeap();
  await Promise.all(holds.map((hold) => hold.unlock()));
  await Promise.all(waiting.map(async (hold) => (await hold).unlock()));
  await Promise.all([leaveSeat(holder), leaveSeat(waiter)]);
  return each(before, after);
}
