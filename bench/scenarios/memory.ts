/**
 * What a waiter and a hold weigh on the heap.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Holdfast } from '../../src/index.ts';
import type { Scenario } from '../scenario.ts';

const WAITERS = 5_000;
const HOLDS = 2_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function heapBytes(): Promise<number> {
  for (let i = 0; i < 3; i += 1) {
    collectGarbage();
    await new Promise(setImmediate);
  }
  return process.memoryUsage().heapUsed;
}

async function bytesPerWaiter(client: Holdfast): Promise<{ waiting: number; after: number }> {
  const lock = client.getLock('bench:memory');
  await using _hold = await lock.lock();
  const giveUp = new AbortController();
  const before = await heapBytes();
  const waiting = Array.from({ length: WAITERS }, () => lock.lock({ signal: giveUp.signal }));
  const settled = Promise.allSettled(waiting);
  const during = await heapBytes();
  giveUp.abort();
  await settled;
  waiting.length = 0;
  const after = await heapBytes();
  return { waiting: (during - before) / WAITERS, after: (after - before) / WAITERS };
}

async function bytesPerHold(client: Holdfast): Promise<{ held: number; after: number }> {
  const before = await heapBytes();
  const names = Array.from({ length: HOLDS }, (_, i) => `bench:memory:${i}`);
  const holds = await Promise.all(names.map((name) => client.getLock(name).lock()));
  const during = await heapBytes();
  await Promise.all(holds.map((hold) => hold.unlock()));
  holds.length = 0;
  names.length = 0;
  const after = await heapBytes();
  return { held: (during - before) / HOLDS, after: (after - before) / HOLDS };
}

export const memory: Scenario = {
  title: 'Memory',
  async run(url) {
    // A busy machine should make it slow, not fail.
    await using client = await Holdfast.connect(url, { commandTimeoutMs: 30_000 });
    // Once before it counts: what is made on first use is not a waiter's nor a hold's.
    await bytesPerWaiter(client);
    await bytesPerHold(client);
    const waiter = await bytesPerWaiter(client);
    const hold = await bytesPerHold(client);
    return [
      { what: 'a waiter', value: waiter.waiting, unit: 'bytes' },
      { what: 'what is left of it afterwards', value: waiter.after, unit: 'bytes' },
      { what: 'a hold, its name and its lock object', value: hold.held, unit: 'bytes' },
      { what: 'what is left of it afterwards', value: hold.after, unit: 'bytes' },
    ];
  },
};
