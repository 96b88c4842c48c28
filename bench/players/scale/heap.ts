/**
 * How much of the heap is in use once garbage is collected.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Finalizers and what they free need a turn of the event loop each. */
const ROUNDS = 3;

export async function heapBytes(): Promise<number> {
  for (let round = 0; round < ROUNDS; round += 1) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}
