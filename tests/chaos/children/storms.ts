/**
 * Workers of one process that fight over one lock, record what they do, and inside add one to a number in a
 * file by reading, pausing and writing: whoever is not alone there loses an update.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock } from '../../../src/index.ts';
import { Recorder } from '../../../src/testing/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';
import { KINDS } from '../support/kinds.ts';
import { openWay, type Place, type Way } from '../support/ways.ts';

export interface StormSettings {
  readonly proc: string;
  readonly way: Way;
  readonly place: Place;
  readonly kind: string;
  readonly name: string;
  readonly options: object;
  readonly workers: number;
  readonly runMs: number;
  /** Left out, the watchdog renews. */
  readonly leaseMs?: number;
  readonly historyFile: string;
  readonly counterFile: string;
}

const settings = JSON.parse(process.argv[2] as string) as StormSettings;
const { proc, name, leaseMs } = settings;
const recorder = Recorder.toFile(settings.historyFile, proc);
const unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));

const { client, close } = await openWay(settings.way, settings.place, settings.options);
const found = KINDS.find(({ title }) => title === settings.kind);
if (found === undefined) throw new Error(`No kind called ${settings.kind}`);
const lock: Lock = found.get(client, name);
let entries = 0;

async function visit(worker: number): Promise<void> {
  const options = { waitMs: 1_500, ...(leaseMs !== undefined && { leaseMs }) };
  const request = { worker: `${worker}`, key: name, kind: 'lock', ...options } as const;
  const recorded = await recorder.acquire(request, () => lock.tryLock(options)).catch(() => null);
  if (recorded === null) return;
  const { hold } = recorded;
  const count = Number(readFileSync(settings.counterFile, 'utf8'));
  await sleep(Math.random() * 5);
  if (hold.remainingMs > 0) {
    writeFileSync(settings.counterFile, String(count + 1));
    entries += 1;
  }
  await recorded.release(() => hold.unlock()).catch(() => undefined);
}

async function storm(): Promise<void> {
  const endsAt = performance.now() + settings.runMs;
  const worker = async (index: number) => {
    while (performance.now() < endsAt) await visit(index);
  };
  await Promise.all(Array.from({ length: settings.workers }, (_, index) => worker(index)));
  tell({ calm: true });
}

onOrder(({ order }) => {
  if (order === 'storm') void storm();
  if (order === 'close') {
    void close().then(() => {
      recorder.close();
      tell({ closed: true, entries, unhandled });
    });
  }
});
tell({ ready: true });
