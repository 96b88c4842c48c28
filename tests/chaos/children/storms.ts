/**
 * Workers of one process that fight over one lock, record what they do, and inside add one to a number in a
 * file by reading, pausing and writing: whoever is not alone there loses an update.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';
import { fileRecorder, nowNs } from '../support/history.ts';
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
const record = fileRecorder(settings.historyFile, proc);
const unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));

const { client, close } = await openWay(settings.way, settings.place, settings.options);
const found = KINDS.find(({ title }) => title === settings.kind);
if (found === undefined) throw new Error(`No kind called ${settings.kind}`);
const lock: Lock = found.get(client, name);
let entries = 0;

async function visit(worker: number): Promise<void> {
  const here = { worker, key: name };
  record({ ...here, op: 'acquire', type: 'invoke' });
  const hold = await lock
    .tryLock({ waitMs: 1_500, ...(leaseMs !== undefined && { leaseMs }) })
    .catch(() => undefined);
  if (hold === undefined || hold === null) {
    record({ ...here, op: 'acquire', type: hold === null ? 'fail' : 'info' });
    return;
  }
  const held = { ...here, hold: hold.owner };
  // Read before what remains: a pause in between may only make the deadline earlier.
  const readAt = nowNs();
  const deadlineNs = leaseMs === undefined ? undefined : readAt + hold.remainingMs * 1e6;
  record({ ...held, op: 'acquire', type: 'ok', deadlineNs });
  hold.signal.addEventListener('abort', () => record({ ...held, op: 'lost', type: 'info' }));
  const count = Number(readFileSync(settings.counterFile, 'utf8'));
  await sleep(Math.random() * 5);
  if (hold.remainingMs > 0) {
    writeFileSync(settings.counterFile, String(count + 1));
    entries += 1;
  }
  record({ ...held, op: 'unlock', type: 'invoke' });
  const released = await hold.unlock().catch(() => undefined);
  record({ ...held, op: 'unlock', type: released === undefined ? 'info' : released ? 'ok' : 'fail' });
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
  if (order === 'close') void close().then(() => tell({ closed: true, entries, unhandled }));
});
tell({ ready: true });
