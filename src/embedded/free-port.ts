/**
 * Finds an unused TCP port on the loopback interface.
 *
 * The port is reserved for the process that found it, while that process lives: a server that restarts, or a proxy that
 * refuses connections for a while, finds its port free afterwards although other processes look for ports as well.
 * Programs that do not know these reservations may still take the port; callers then try another one.
 */
import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The only interface that servers of the test kit listen on. */
export const LOOPBACK = '127.0.0.1';

// Below every common ephemeral range, where an outgoing connection could take the port while a server restarts, and low
// enough that the cluster bus (port + 10000) still fits.
const FIRST_PORT = 15_000;
const LAST_PORT = 30_000;
const ATTEMPTS = 50;

/** After this time the process ID may belong to another process. */
const RESERVED_FOR_MS = 3 * 3_600_000;

/** Reserves the port for this process; returns false if another process has reserved it. Never throws. */
export function reservePort(port: number, directory = join(tmpdir(), 'holdfast-ports')): boolean {
  const file = join(directory, String(port));
  try {
    mkdirSync(directory, { recursive: true });
  } catch {
    // Without a writable folder, ports are used without reservations.
    return true;
  }
  if (isReservedByOther(file)) return false;
  try {
    rmSync(file, { force: true });
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    // Another process replaced the same old reservation first.
    return false;
  }
}

function isReservedByOther(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    const isRecent = Date.now() - statSync(file).mtimeMs < RESERVED_FOR_MS;
    return isRecent && pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    // The port is not reserved, or its process has ended. EPERM: the process lives, and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: LOOPBACK, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** A port on 127.0.0.1 that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (reservePort(port) && (await isFree(port))) return port;
  }
  throw new Error(`No free port between ${FIRST_PORT} and ${LAST_PORT} on ${LOOPBACK}`);
}
