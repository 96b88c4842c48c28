/** What npm would publish: packed, installed into an empty project, imported and run there. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedServer } from '../harness/servers.ts';
import { readTable } from './support/run-demo.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const PACK_AND_INSTALL_MS = 240_000;

/** Without what the npm that runs these tests tells its scripts about this project. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const told = /^(npm_(package|lifecycle|command|config_local_prefix)|INIT_CWD$)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !told.test(name)));
}

async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd, env: cleanEnvironment() });
  return stdout;
}

async function namesExportedBy(cwd: string, specifier: string): Promise<string[]> {
  const code = `console.log(JSON.stringify(Object.keys(await import('${specifier}'))))`;
  const stdout = await run(cwd, process.execPath, '--input-type=module', '-e', code);
  return (JSON.parse(stdout) as string[]).sort();
}

describe('the packed package', () => {
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'holdfast-package-'));
    await run(project, 'npm', 'pack', '--pack-destination', dir, '--loglevel', 'error');
    const { version } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as {
      version: string;
    };
    await writeFile(join(dir, 'package.json'), JSON.stringify({ name: 'consumer', private: true }));
    const tarball = join(dir, `holdfast-${version}.tgz`);
    await run(dir, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball);
  }, PACK_AND_INSTALL_MS);

  afterAll(() => rm(dir, { recursive: true, force: true }));

  it('exports the client and every error', async () => {
    expect(await namesExportedBy(dir, 'holdfast')).toEqual(
      expect.arrayContaining([
        'AcquireTimeoutError',
        'ClosedError',
        'DeadlockError',
        'DriverError',
        'Holdfast',
        'HoldfastError',
        'LeaseLostError',
        'NotHeldError',
        'OptionError',
        'OutcomeUnknownError',
        'QuorumError',
        'ReentryError',
        'ReplicationError',
      ]),
    );
  });

  it('exports the test kit', async () => {
    expect(await namesExportedBy(dir, 'holdfast/testing')).toEqual(
      expect.arrayContaining(['findServerBinary', 'startEmbeddedServer', 'startFaultProxy', 'startServer']),
    );
  });

  it('has a command that knows its version', async () => {
    const { version } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(await run(dir, 'npx', '--no-install', 'holdfast', '--version')).toBe(`${version}\n`);
  });

  it('plays the demo, worker processes and all', async () => {
    const stdout = await run(dir, 'npx', '--no-install', 'holdfast', 'demo', '--url', sharedServer().url);
    expect(stdout).toMatch(/^ {2}All 5 scenes held {2}\d+\.\d s$/m);
    expect(readTable(stdout).get('One counter / under one lock')).toBe('1,000 of 1,000');
  }, 90_000);
});
