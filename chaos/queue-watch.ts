/** Reads the queues of fair locks while a storm lasts: who the server says is ahead of whom. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fairQueueKey } from '../src/keys.ts';
import type { Recorder } from '../src/testing/history/recorder.ts';
import type { Stage } from './fault.ts';
import { reachableOf } from './stages/given.ts';

const LOOK_EVERY_MS = 20;

/** Records each order that differs from the one before, until the signal aborts. */
export async function watchQueues(
  stage: Stage,
  names: readonly string[],
  recorder: Recorder,
  until: AbortSignal,
): Promise<void> {
  const known = new Map<string, string>();
  while (!until.aborted) {
    for (const key of names) {
      const queue = await readQueue(stage, key).catch(() => undefined);
      if (queue === undefined || queue.join(' ') === known.get(key)) continue;
      known.set(key, queue.join(' '));
      recorder.record({ worker: '', key, kind: 'fair', op: 'queue', type: 'info', queue });
    }
    await sleep(LOOK_EVERY_MS);
  }
}

async function readQueue(stage: Stage, key: string): Promise<string[]> {
  const [primary, ...others] = await reachableOf(stage);
  if (primary === undefined || others.length > 0) throw new Error('There is no single server to ask');
  return (await primary.command('LRANGE', fairQueueKey(key), 0, -1)) as string[];
}
