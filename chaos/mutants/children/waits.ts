/**
 * Waits for a lock whose lease is running out, and has nothing else to do: `waits.ts <url> <history> <timers>`. Its sockets
 * do not keep it alive, so only timers can; with `background` timers nothing does.
 */
import { Redis } from 'ioredis';
import { Holdfast } from '../../../src/index.ts';
import { Recorder } from '../../../src/testing/history/recorder.ts';
import { watchSockets } from '../../../tests/harness/loose-sockets.ts';

const [url = '', file = '', timers = ''] = process.argv.slice(2);
const LEASE_MS = 500;
const REQUEST = { worker: 'w', key: 'invoice:42', kind: 'lock' } as const;

const letGoOfSockets = watchSockets();

function letGo(): void {
  letGoOfSockets();
  if (timers !== 'background') return;
  const { setTimeout } = globalThis;
  globalThis.setTimeout = ((...args: Parameters<typeof setTimeout>) =>
    setTimeout(...args).unref()) as typeof setTimeout;
}

async function main(): Promise<void> {
  const redis = new Redis(url);
  const lock = Holdfast.from(redis, { replicas: 0 }).getLock(REQUEST.key);
  const recorder = Recorder.toFile(file, 'child');
  await recorder.acquire({ ...REQUEST, leaseMs: LEASE_MS }, () => lock.lock({ leaseMs: LEASE_MS }));
  letGo();
  const second = await recorder.acquire(REQUEST, () => lock.lock());
  await second?.release(() => second.hold.unlock());
  recorder.close();
}

// Not awaited here: Node warns of an unsettled await at the top level of a module, and of no other.
void main();
