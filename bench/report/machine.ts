/**
 * What the figures were measured on and with, as far as it helps to read them.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findServerBinary } from '../../src/testing/index.ts';
import { BENCH } from '../folders.ts';
import { canPin } from '../machine/pin.ts';

export interface Machine {
  /** The day of the run, as in 2026-01-31. */
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly canPin: boolean;
  readonly node: string;
  readonly server: string;
  /** Of the packages that the bench installs. */
  readonly versions: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

/** They are exact in the manifest; an alias ends with the version that it stands for. */
function packageVersions(): Record<string, string> {
  const { dependencies } = JSON.parse(readFileSync(join(BENCH, 'package.json'), 'utf8')) as Manifest;
  return Object.fromEntries(
    Object.entries(dependencies).map(([name, version]) => [name, version.split('@').at(-1) ?? version]),
  );
}

async function serverVersion(): Promise<string> {
  const binary = findServerBinary();
  if (binary === null) throw new Error('The bench needs redis-server or valkey-server on PATH');
  const { stdout } = await promisify(execFile)(binary, ['--version']);
  const name = /^(\w+) server/i.exec(stdout)?.[1] ?? 'server';
  return `${name} ${/v=([\d.]+)/.exec(stdout)?.[1] ?? ''}`.trim();
}

export async function describeMachine(): Promise<Machine> {
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    canPin,
    node: process.versions.node,
    server: await serverVersion(),
    versions: packageVersions(),
  };
}
