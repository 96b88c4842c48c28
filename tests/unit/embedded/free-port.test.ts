/** A port that one process of ours found is left alone by the others, also while nobody listens there. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findFreePort, reservePort } from '../../../src/embedded/free-port.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-ports-test-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const fileOf = (port: number) => join(directory, String(port));

describe('a reserved port', () => {
  it('is found by a process', async () => {
    const port = await findFreePort();
    const file = join(tmpdir(), 'holdfast-ports', String(port));
    expect(readFileSync(file, 'utf8')).toBe(String(process.pid));
  });

  it('belongs to this process', () => {
    expect(reservePort(15_001, directory)).toBe(true);
    expect(readFileSync(fileOf(15_001), 'utf8')).toBe(String(process.pid));
    expect(reservePort(15_001, directory)).toBe(true);
  });

  it('of a living process is not given out', () => {
    writeFileSync(fileOf(15_002), String(process.ppid));
    expect(reservePort(15_002, directory)).toBe(false);
    expect(readFileSync(fileOf(15_002), 'utf8')).toBe(String(process.ppid));
  });

  it('of an ended process is given out', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    writeFileSync(fileOf(15_003), String(pid));
    expect(reservePort(15_003, directory)).toBe(true);
  });

  it('of long ago is given out: another process may have the pid by now', () => {
    writeFileSync(fileOf(15_004), String(process.ppid));
    const longAgo = new Date(Date.now() - 24 * 3_600_000);
    utimesSync(fileOf(15_004), longAgo, longAgo);
    expect(reservePort(15_004, directory)).toBe(true);
  });

  it('is not used where nothing can be written', () => {
    writeFileSync(fileOf(15_005), '');
    expect(reservePort(15_006, fileOf(15_005))).toBe(true);
  });
});
