/**
 * A server whose wall clock a test can move. Needs a C compiler and Linux; where there is none, it says so.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { findServerBinary, type TestServer } from '../../../src/testing/index.ts';
import { ownServer } from '../../harness/servers.ts';

export const CAN_SHIFT = process.platform === 'linux' && spawnSync('gcc', ['--version']).status === 0;

export interface ShiftableServer {
  readonly server: TestServer;
  /** Sets the server's wall clock this far from the real one. */
  readonly shift: (byMs: number) => Promise<void>;
}

export async function shiftableServer(): Promise<ShiftableServer> {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-clock-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const [library, shiftFile, wrapper] = [join(dir, 'shim.so'), join(dir, 'shift'), join(dir, 'server')];
  const source = fileURLToPath(new URL('./wall-clock-shim.c', import.meta.url));
  const compiled = spawnSync('gcc', ['-shared', '-fPIC', '-O1', '-o', library, source]);
  if (compiled.status !== 0) throw new Error(`gcc: ${compiled.stderr.toString()}`);
  writeFileSync(shiftFile, Buffer.alloc(8));
  const command = `exec env SHIFT_FILE='${shiftFile}' LD_PRELOAD='${library}' '${findServerBinary()}' "$@"`;
  writeFileSync(wrapper, `#!/bin/sh\n${command}\n`, { mode: 0o755 });
  const server = await ownServer({ binary: wrapper });
  return {
    server,
    async shift(byMs) {
      const microseconds = Buffer.alloc(8);
      microseconds.writeBigInt64LE(BigInt(byMs) * 1000n);
      // In place, because the server has the file mapped.
      const file = await open(shiftFile, 'r+');
      await file.write(microseconds, 0, 8, 0);
      await file.close();
    },
  };
}
