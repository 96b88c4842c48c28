/**
 * Works in a section for a while, with `closeOnSignals: { drainMs }`, and tells what becomes of it. The program may
 * have a handler of its own, which waits for the client and ends the process with code 7.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Holdfast } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';

export interface DrainsSettings {
  readonly url: string;
  readonly name: string;
  readonly drainMs: number;
  /** How long the section lasts after the first signal. */
  readonly workMs: number;
  readonly watchdogMs: number;
  readonly commandTimeoutMs?: number;
  readonly own?: 'on' | 'once';
}

const settings = JSON.parse(process.argv[2] as string) as DrainsSettings;
const { url, name, drainMs, workMs, watchdogMs, commandTimeoutMs = 3_000, own } = settings;

async function shutDown(): Promise<void> {
  await client.close({ drainMs });
  process.exit(7);
}

if (own !== undefined) process[own]('SIGTERM', () => void shutDown());
const client = await Holdfast.connect(url, {
  watchdogMs,
  commandTimeoutMs,
  closeOnSignals: { drainMs },
});

const asked = new Promise<void>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.prependListener(signal, onAsked);
  function onAsked(): void {
    // Must not count as a handler of the program when the library looks.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, onAsked);
    resolve();
  }
});

async function work(): Promise<void> {
  await client.getLock(name).withLock(async (hold) => {
    hold.signal.addEventListener('abort', () =>
      tell({ lost: hold.signal.reason.reason, atWallMs: Date.now() }),
    );
    tell({ pid: process.pid, owner: hold.owner });
    await asked;
    tell({ asked: true });
    await sleep(workMs);
    // A section may have to enter its lock again to finish.
    await client.getLock(name).withLock((again) => again.assertHeld());
    tell({ left: true, atWallMs: Date.now() });
  });
}

onOrder(() => {});
work().catch((error: { code: string }) => tell({ failed: error.code }));
