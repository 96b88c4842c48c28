/** `bench` and `completion`, as programs. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { ownCluster, ownReplicas } from '../harness/topologies.ts';
import { runCli } from './support/cli.ts';
import { isShellAtHand, shellProgram } from './support/shells.ts';

const WITHIN = { timeout: 60_000 };

/** With the time that a download takes. */
const WITH_SHELL = { timeout: 240_000 };

/** How each shell reads a script without running it. */
const CHECKERS = [
  ['bash', '-n'],
  ['zsh', '-n'],
  ['fish', '--no-execute'],
] as const;

describeWithProcess('holdfast bench', () => {
  it('measures a server that nobody uses, and leaves no lock behind', WITHIN, async () => {
    const server = await ownServer();
    const args = ['bench', '--url', server.url, '--time', '300ms', '--concurrency', '5', '--json', '--yes'];
    const { code, stdout } = await runCli(args);
    expect(code).toBe(0);
    const measured = JSON.parse(stdout) as { what: string; perSecond: number; p50Ms: number }[];
    expect(measured.map(({ what }) => what)).toEqual([
      'one lock, no contention',
      '5 locks at once',
      'one lock between 2 clients',
    ]);
    for (const { perSecond, p50Ms } of measured) {
      expect(perSecond).toBeGreaterThan(0);
      expect(p50Ms).toBeGreaterThan(0);
    }
    const keys = (await server.command('KEYS', '*')) as string[];
    expect(keys.filter((key) => !key.startsWith('holdfast_client:'))).toEqual([]);
  });

  it('measures a Cluster, and leaves no lock at any node', WITHIN, async () => {
    const { nodes, addresses } = await ownCluster({ replicasEach: 0 });
    const [seed] = addresses.map(({ host, port }) => `${host}:${port}`);
    const args = ['--cluster', `${seed}`, '--time', '300ms', '--concurrency', '5', '--json', '--yes'];
    const { code, stdout } = await runCli(['bench', ...args]);
    expect(code).toBe(0);
    const measured = JSON.parse(stdout) as { perSecond: number }[];
    expect(measured).toHaveLength(3);
    for (const { perSecond } of measured) expect(perSecond).toBeGreaterThan(0);
    const keys = (await Promise.all(nodes.map((node) => node.command('KEYS', '*')))) as string[][];
    expect(keys.flat().filter((key) => !key.startsWith('holdfast_client:'))).toEqual([]);
  });

  it('refuses a server with many keys and other clients', WITHIN, async () => {
    const server = await ownServer();
    await openRaw(server.host, server.port);
    await server.command('DEBUG', 'POPULATE', '1001');
    const { code, stdout, stderr } = await runCli(['bench', '--url', server.url]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^holdfast bench: this server looks like one in use: it has 1001 keys; (?:1 other client is|\d+ other clients are) connected\. Use --yes to load it all the same\n$/,
    );
  });

  it('refuses a server that does not let itself be asked', WITHIN, async () => {
    const user = (name: string, ...rules: string[]) => [
      ...['--user', name, 'on', '>pw', '~*', '&*', '+@all'],
      ...rules,
    ];
    const server = await ownServer({
      args: [...user('shop', '-dbsize', '-client|list'), ...user('ops')],
    });
    const bench = (name: string) => {
      const args = ['bench', '--url', server.url, '--username', name, '--time', '50ms'];
      return runCli(args, { HOLDFAST_PASSWORD: 'pw' });
    };
    expect(await bench('shop')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        'looks like one in use: it may not be asked DBSIZE; it may not be asked CLIENT LIST. Use --yes',
      ),
    });
    expect(await bench('ops')).toMatchObject({ code: 0, stderr: '' });
  });

  it('refuses a server with a replica', WITHIN, async () => {
    const { primary } = await ownReplicas({ replicas: 1 });
    const { code, stdout, stderr } = await runCli(['bench', '--url', primary.url, '--time', '50ms']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('1 replica is connected');
  });
});

describe('holdfast completion', () => {
  it('prints a script for each shell, and refuses others', WITHIN, async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, stdout } = await runCli(['completion', shell]);
      expect(code).toBe(0);
      expect(stdout).toContain(`holdfast completion ${shell}`);
    }
    expect(await runCli(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' });
  });

  for (const [shell, flag] of CHECKERS) {
    const title = `prints what ${shell} can read [needs ${shell}]`;
    it.skipIf(!isShellAtHand(shell))(title, WITH_SHELL, async () => {
      const program = await shellProgram(shell);
      const folder = await mkdtemp(join(tmpdir(), 'holdfast-completion-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const check = async (script: string) => {
        // fish reads no script from a socket, which is what a child has for stdin.
        const file = join(folder, 'script');
        await writeFile(file, script);
        return spawnSync(program, [flag, file], { encoding: 'utf8' });
      };
      const { stdout } = await runCli(['completion', shell]);
      expect(await check(stdout)).toMatchObject({ status: 0, stdout: '', stderr: '' });
      // The check finds faults at all.
      expect((await check(`${stdout}\n'`)).status).not.toBe(0);
    });
  }
});
