/**
 * Clocks that can be moved under a process while it runs: a shim that is loaded before the process's own libraries.
 * Needs a C compiler and Linux; where there is none, `CAN_SHIFT` says so.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findServerBinary, startServer, type TestServer } from '../../src/testing/index.ts';
import { orClose } from './start-together.ts';

export const CAN_SHIFT = process.platform === 'linux' && spawnSync('gcc', ['--version']).status === 0;

/** In the name of what is skipped where clocks cannot be moved. */
export const NEEDS_GCC = CAN_SHIFT ? '' : ' [needs gcc]';

/** The clocks of one process. */
export interface MovableClock {
  /** What the process has to find in its environment. */
  readonly env: { readonly SHIFT_FILE: string; readonly LD_PRELOAD: string };
  /** Sets the wall clock this far from the real one. */
  shift(byMs: number): Promise<void>;
  /**
   * Moves the time since boot, and the wall clock with it, this much further ahead of the monotonic clock: what a
   * process sees after the machine was suspended. The time since boot never goes back.
   */
  suspend(byMs: number): Promise<void>;
  close(): Promise<void>;
}

let compiled: Buffer | undefined;

/** Compiled once in a process. Every clock has a copy of its own, which goes with it. */
function compileShim(library: string): void {
  if (compiled === undefined) {
    const source = fileURLToPath(new URL('./clock-shim.c', import.meta.url));
    const run = spawnSync('gcc', ['-shared', '-fPIC', '-O1', '-o', library, source]);
    if (run.status !== 0) throw new Error(`gcc: ${run.stderr.toString()}`);
    compiled = readFileSync(library);
  }
  writeFileSync(library, compiled);
}

export function movableClock(): MovableClock {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-clock-'));
  const [library, shiftFile] = [join(dir, 'shim.so'), join(dir, 'shift')];
  compileShim(library);
  writeFileSync(shiftFile, Buffer.alloc(16));
  let [shiftedMs, suspendedMs] = [0, 0];
  const write = async () => {
    const microseconds = Buffer.alloc(16);
    microseconds.writeBigInt64LE(BigInt(Math.round((shiftedMs + suspendedMs) * 1000)), 0);
    microseconds.writeBigInt64LE(BigInt(Math.round(suspendedMs * 1000)), 8);
    // In place, because the process has the file mapped.
    const file = await open(shiftFile, 'r+');
    await file.write(microseconds, 0, microseconds.length, 0);
    await file.close();
  };
  return {
    env: { SHIFT_FILE: shiftFile, LD_PRELOAD: library },
    shift(byMs) {
      shiftedMs = byMs;
      return write();
    },
    suspend(byMs) {
      suspendedMs += byMs;
      return write();
    },
    close: async () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** A program that runs another one by a clock that can be moved. */
export function underClock(clock: MovableClock, program: string): string {
  const { SHIFT_FILE, LD_PRELOAD } = clock.env;
  const wrapper = `${SHIFT_FILE}-program`;
  const command = `exec env SHIFT_FILE='${SHIFT_FILE}' LD_PRELOAD='${LD_PRELOAD}' '${program}' "$@"`;
  writeFileSync(wrapper, `#!/bin/sh\n${command}\n`, { mode: 0o755 });
  return wrapper;
}

export interface ShiftableServer {
  readonly server: TestServer;
  readonly clock: MovableClock;
  close(): Promise<void>;
}

/** A server whose wall clock can be moved. */
export async function startShiftableServer(binary = findServerBinary()): Promise<ShiftableServer> {
  if (binary === null) throw new Error('Neither redis-server nor valkey-server is on PATH');
  const clock = movableClock();
  const server = await orClose(clock, () => startServer({ binary: underClock(clock, binary) }));
  const close = async () => {
    await server.close();
    await clock.close();
  };
  return { server, clock, close };
}
