/**
 * Many holds, many waiters, many locks that are waited for: what each weighs and what they cost while nothing happens.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hold, Holdfast } from '../../../src/index.ts';
import { connectIoredis } from '../../contestants/clients.ts';
import { heapBytes } from './heap.ts';

/** So many acquisitions are under way at once while holds are collected. */
const BATCH = 500;

/** Until every waiter has made its first attempt and is subscribed. */
const SETTLE_MS = 1_500;

const LAG_RESOLUTION_MS = 2;

export interface HeapAnswer {
  readonly bytesEach: number;
}

export interface ObserveAnswer {
  /** Share of one core, 0 to 1. */
  readonly cpu: number;
  readonly worstLagMs: number;
}

export interface DrainAnswer extends HeapAnswer {
  readonly drainMs: number;
}

export class Scale {
  readonly #url: string;
  /** Kept so that the garbage collector does not take it. */
  readonly #kept: unknown[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  /** Takes so many locks and keeps them. */
  async hold(count: number, watchdogMs: number): Promise<HeapAnswer> {
    const client = await this.#client(watchdogMs);
    const holds: Hold[] = [];
    this.#kept.push(holds);
    const take = async (from: number, to: number) => {
      const names = Array.from({ length: to - from }, (_, i) => `hold:${from + i}`);
      holds.push(...(await Promise.all(names.map((name) => client.getLock(name).lock()))));
    };
    // What is made on first use is not part of a hold.
    await take(0, BATCH);
    const before = await heapBytes();
    for (let from = BATCH; from < count + BATCH; from += BATCH) await take(from, from + BATCH);
    return { bytesEach: ((await heapBytes()) - before) / count };
  }

  /** Does nothing for a while and tells what the library does meanwhile. */
  async observe(ms: number): Promise<ObserveAnswer> {
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    await sleep(ms);
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpu = (user + system) / 1_000 / (performance.now() - startedAt);
    // After that: looking at the lag this often takes as much of a core as what is looked at.
    const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
    lag.enable();
    await sleep(ms);
    lag.disable();
    return { cpu, worstLagMs: Math.max(0, lag.max / 1e6 - LAG_RESOLUTION_MS) };
  }

  /** Lets so many tasks wait for one lock, then lets them all have it once. */
  async drain(count: number): Promise<DrainAnswer> {
    const client = await this.#client();
    const lock = client.getLock('drained');
    const first = await lock.lock();
    // What is made for the first waiter is not part of the others.
    const waiting = [lock.lock()];
    await sleep(SETTLE_MS);
    const before = await heapBytes();
    for (let i = 0; i < count; i += 1) waiting.push(lock.lock());
    await sleep(SETTLE_MS);
    const bytesEach = ((await heapBytes()) - before) / count;
    const served = waiting.map(async (hold) => (await hold).unlock());
    const startedAt = performance.now();
    await first.unlock();
    await Promise.all(served);
    return { bytesEach, drainMs: performance.now() - startedAt };
  }

  /** Waits for so many locks that another client holds: `wait:0`, `wait:1` and so on. */
  async wait(count: number): Promise<HeapAnswer> {
    const client = await this.#client();
    const wait = (i: number) => {
      // They wait until the process ends.
      client
        .getLock(`wait:${i}`)
        .lock()
        .catch(() => {});
    };
    wait(count);
    await sleep(SETTLE_MS);
    const before = await heapBytes();
    for (let i = 0; i < count; i += 1) wait(i);
    await sleep(2 * SETTLE_MS);
    return { bytesEach: ((await heapBytes()) - before) / count };
  }

  async #client(watchdogMs?: number): Promise<Holdfast> {
    // A busy machine should make it slow, not fail.
    const client = Holdfast.from(await connectIoredis(this.#url), { watchdogMs, commandTimeoutMs: 30_000 });
    this.#kept.push(client);
    return client;
  }
}
