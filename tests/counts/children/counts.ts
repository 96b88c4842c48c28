/** Counts in a process of its own, where nothing else makes promises, and tells the figures of the scenes it is given. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { tell } from '../../harness/in-child.ts';
import type { Scene as Title } from '../budget.ts';
import type { Figures } from '../support/compare.ts';
import { costOfHold, costOfWaitedFor, costOfWaiter } from '../support/crowds.ts';
import { costOfCycle, type Scene } from '../support/cycles.ts';
import { Meter } from '../support/meter.ts';
import {
  openFree,
  openHandedOver,
  openLeasedPermit,
  openPassedOn,
  openPermit,
  openRate,
  openSection,
} from '../support/scenes.ts';

const [url, scenes] = process.argv.slice(2) as [string, string];
const server = new Redis(url);
const meter = new Meter();

/** A server that has just started lets nobody in for one grace. Once the client knows it for longer, it says so. */
const GRACE_MS = 1_000;

async function openGuarded(): Promise<Scene> {
  const guarded = { watchdogMs: GRACE_MS, guard: { graceMs: GRACE_MS } };
  const scene = openFree(url, (client) => client.getLock('counts'), guarded);
  await scene.cycle();
  await sleep(2 * GRACE_MS);
  return scene;
}

const cycle = async (scene: Scene | Promise<Scene>) => costOfCycle(await scene, server, meter);

/** Each is opened when those before it are closed. */
const SCENES: Record<Title, () => Promise<Figures>> = {
  'lock() and unlock()': () => cycle(openFree(url, (client) => client.getLock('counts'))),
  'withLock()': () => cycle(openSection(url)),
  'a fenced lock': () => cycle(openFree(url, (client) => client.getFencedLock('counts:fenced'))),
  'a fair lock': () => cycle(openFree(url, (client) => client.getFairLock('counts'))),
  'a read lock': () => cycle(openFree(url, (client) => client.getReadWriteLock('counts').readLock())),
  'a write lock': () => cycle(openFree(url, (client) => client.getReadWriteLock('counts').writeLock())),
  'a simple lock': () => cycle(openFree(url, (client) => client.getSimpleLock('counts:simple'))),
  'a guarded lock': () => cycle(openGuarded()),
  'a semaphore': () => cycle(openPermit(url)),
  'a permit with a lease': () => cycle(openLeasedPermit(url)),
  'a rate limiter': () => cycle(openRate(url)),
  'handed over to another client': () => cycle(openHandedOver(url, meter)),
  'passed on inside the process': () => cycle(openPassedOn(url)),
  'a hold': () => costOfHold(url, 'new'),
  'a hold after a renewal': () => costOfHold(url, 'renewed'),
  'a waiter behind others': () => costOfWaiter(url),
  'a lock that is waited for': () => costOfWaitedFor(url, server),
};

for (const scene of JSON.parse(scenes) as Title[]) tell({ scene, counted: await SCENES[scene]() });
server.disconnect();
