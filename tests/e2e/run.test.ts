/** `run`, as a program: the command under the lock, its exit code, its signals. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { RunningCli, runCli } from './support/cli.ts';

const JAVA = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455:81';

let env: Record<string, string>;
beforeAll(() => {
  env = { HOLDFAST_URL: sharedServer().url };
});

async function connect(): Promise<Holdfast> {
  const client = await Holdfast.connect(sharedServer().url);
  onTestFinished(() => client.close());
  return client;
}

async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-run-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** The environment of a program that first runs this code. */
function preloading(code: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

describe('holdfast run', { timeout: 90_000 }, () => {
  it('runs the command under the lock, and gives it owner and token', async () => {
    const name = randomName('run');
    const client = await connect();
    const script = 'echo "$HOLDFAST_NAME $HOLDFAST_OWNER $HOLDFAST_TOKEN"; read line; exit 7';
    const held = await client.getFencedLock(name).lock();
    const cli = new RunningCli(['run', name, '--', 'sh', '-c', script], env);
    await held.unlock();
    const { code, stdout, stderr } = await cli.ended;
    expect({ code, stderr }).toEqual({ code: 7, stderr: '' });
    const [, owner, token] = /^(\S+) ([-0-9a-f]{36}:\d+) (\d+)\n$/.exec(stdout)?.slice(1) ?? [];
    expect(owner).toBeDefined();
    expect(Number(token)).toBeGreaterThan(held.token);
    expect(await client.getLock(name).isLocked()).toBe(false);
  });

  it('holds the lock while the command runs, under its own label', async () => {
    const name = randomName('run');
    const client = await connect();
    const cli = new RunningCli(['run', name, '--label', 'nightly', '--', 'sleep', '60'], env);
    await eventually(
      async () => {
        const found = await client.inspect(name);
        expect(found).toMatchObject({
          kind: 'fenced',
          holders: [{ client: { label: 'nightly', pid: cli.pid } }],
        });
      },
      { withinMs: 20_000 },
    );
    expect(await runCli(['run', name, '--wait', '0', '--', 'echo', 'in'], env)).toEqual({
      code: 117,
      stdout: '',
      stderr: `holdfast run: "${name}" was not free within 0 ms: held by nightly\n`,
    });
    cli.signal('SIGTERM');
    expect(await cli.ended).toEqual({ code: 143, stdout: '', stderr: '' });
    expect(await client.getLock(name).isLocked()).toBe(false);
  });

  it('passes signals on, also to what the command started', async () => {
    const name = randomName('run');
    const inner =
      "process.on('SIGUSR2', () => { console.log('inner'); process.exit(0); });" +
      "setTimeout(() => {}, 60_000); console.log('ready');";
    const outer =
      `const inner = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'inherit' });` +
      "const ended = new Promise((resolve) => inner.once('exit', resolve));" +
      "process.on('SIGUSR2', () => ended.then(() => { console.log('outer'); process.exit(3); }));";
    const cli = new RunningCli(['run', name, '--', process.execPath, '-e', outer], env);
    await eventually(() => cli.stdout.includes('ready'), { withinMs: 20_000 });
    cli.signal('SIGUSR2');
    expect(await cli.ended).toEqual({ code: 3, stdout: 'ready\ninner\nouter\n', stderr: '' });
  });

  it.each(['TERM', 'USR1'])('passes on a %s that comes while the command starts', async (signal) => {
    const name = randomName('run');
    const script = `trap 'echo told; exit 3' ${signal}; kill -s ${signal} $PPID; while :; do sleep 0.05; done`;
    // Holds up the process before it listens, long enough for the signal of a command that runs by then.
    const heldUp = `process.on('newListener', (event) => {
      if (event === 'SIGINT') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    });`;
    const cli = new RunningCli(['run', name, '--', 'sh', '-c', script], { ...env, ...preloading(heldUp) });
    expect(await cli.ended).toMatchObject({ code: 3, stdout: 'told\n' });
  });

  it('listens to signals until the lock is released', async () => {
    const name = randomName('run');
    const toldLast = `process.on('removeListener', (event) => {
      if (event === 'SIGTERM' && process.listenerCount(event) === 0) process.stderr.write('{"event":"deaf"}\\n');
    });`;
    const args = ['run', name, '--json', '--', 'true'];
    const { stderr } = await runCli(args, { ...env, ...preloading(toldLast) });
    const lines = stderr.trim().split('\n');
    const events = lines.map((line) => JSON.parse(line).event);
    expect(events).toEqual(['acquired', 'released', 'deaf']);
  });

  it('runs the command under a fair lock, with its owner and without a token', async () => {
    const name = randomName('run');
    const client = await connect();
    const held = await client.getFairLock(name).lock();
    const script = 'echo "$HOLDFAST_NAME $HOLDFAST_OWNER [$HOLDFAST_TOKEN]"; exit 7';
    // As inside of another `run`, whose token says nothing about this lock.
    const inner = { ...env, HOLDFAST_TOKEN: '7' };
    const cli = new RunningCli(['run', name, '--fair', '--', 'sh', '-c', script], inner);
    await eventually(async () => expect(await client.inspect(name)).toMatchObject({ kind: 'fair' }), {
      withinMs: 20_000,
    });
    await held.unlock();
    const { code, stdout, stderr } = await cli.ended;
    expect({ code, stderr }).toEqual({ code: 7, stderr: '' });
    const [said, owner, token] = stdout.trim().split(' ');
    expect([said, token]).toEqual([name, '[]']);
    expect(owner).toMatch(/^[-0-9a-f]{36}:\d+$/);
    expect(owner).not.toBe(held.owner);
    expect(await client.getLock(name).isLocked()).toBe(false);
  });

  it('stops waiting on a signal, and leaves the queue', async () => {
    const name = randomName('run');
    const client = await connect();
    await client.getFairLock(name).lock();
    const cli = new RunningCli(['run', name, '--fair', '--', 'echo', 'in'], env);
    await eventually(async () => expect(await client.inspect(name)).toMatchObject({ kind: 'fair' }), {
      withinMs: 20_000,
    });
    cli.signal('SIGINT');
    const ended = await cli.ended;
    expect(ended).toEqual({ code: 130, stdout: '', stderr: 'holdfast run: Interrupted by SIGINT\n' });
    expect((await client.inspect(name)).kind).toBe('lock');
  });

  it('waits for a thread of Java, and names it when it does not wait', async () => {
    const name = randomName('run');
    const raw = await openShared();
    await raw.command('HSET', name, JAVA, '1');
    await raw.command('PEXPIRE', name, '60000');
    const refused = await runCli(['run', name, '--wait', '50ms', '--json', '--', 'true'], env);
    expect(refused.code).toBe(117);
    expect(JSON.parse(refused.stderr)).toEqual({ event: 'timedOut', name, waitMs: 50, holders: [JAVA] });
    const cli = new RunningCli(['run', name, '--', 'echo', 'in'], env);
    await eventually(
      async () =>
        expect(await raw.command('PUBSUB', 'NUMSUB', `redisson_lock__channel:{${name}}`)).toContain(1),
      { withinMs: 20_000 },
    );
    await raw.command('DEL', name);
    await raw.command('PUBLISH', `redisson_lock__channel:{${name}}`, '0');
    expect(await cli.ended).toEqual({ code: 0, stdout: 'in\n', stderr: '' });
  });

  it('lets so many commands run at once as there are permits', async () => {
    const name = randomName('run');
    const args = (...command: string[]) => ['run', name, '--permits', '2', '--wait', '0', '--', ...command];
    const script = 'echo $HOLDFAST_OWNER $HOLDFAST_TOKEN; sleep 60';
    const running = [1, 2].map(() => new RunningCli(args('sh', '-c', script), env));
    for (const cli of running) {
      await eventually(() => /^[0-9a-f]{32}\n$/.test(cli.stdout), { withinMs: 20_000 });
    }
    expect(await runCli(args('true'), env)).toMatchObject({ code: 117 });
    running[0]?.signal('SIGTERM');
    expect(await running[0]?.ended).toMatchObject({ code: 143 });
    expect(await runCli(args('true'), env)).toMatchObject({ code: 0 });
  });

  it('runs a command once for each key, counting from its first success', async () => {
    const [name, key] = [randomName('run'), randomName('once')];
    const log = join(await ownFolder(), 'log');
    const run = (word: string, exit: number) =>
      runCli(['run', name, '--once', key, '--', 'sh', '-c', `echo ${word} >> ${log}; exit ${exit}`], env);
    expect(await run('failed', 5)).toMatchObject({ code: 5 });
    expect(await run('done', 0)).toMatchObject({ code: 0 });
    const again = await run('again', 0);
    expect(again.code).toBe(0);
    expect(again.stderr).toMatch(
      new RegExp(`^holdfast run: "${key}" is done already, by \\S+ sh at 20\\S+Z\\n$`),
    );
    expect(await readFile(log, 'utf8')).toBe('failed\ndone\n');
  });

  it('runs a command once, though many call it together, and forgets it after its time', async () => {
    const [name, key] = [randomName('run'), randomName('once')];
    const args = ['run', name, '--once', key, '--once-ttl', '1h', '--', 'sh', '-c', 'sleep 0.3; echo ran'];
    const runs = await Promise.all([1, 2, 3].map(() => runCli(args, env)));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(runs.map(({ stdout }) => stdout).join('')).toBe('ran\n');
    const left = (await (await openShared()).command('PTTL', `holdfast_once:{${name}}:${key}`)) as number;
    expect(left).toBeGreaterThan(3_500_000);
    expect(left).toBeLessThanOrEqual(3_600_000);
  });

  it('keeps the key for each lock, because two locks do not wait for each other', async () => {
    const [one, other, key] = [randomName('run'), randomName('run'), randomName('once')];
    const run = (name: string) => runCli(['run', name, '--once', key, '--', 'echo', name], env);
    expect(await run(one)).toEqual({ code: 0, stdout: `${one}\n`, stderr: '' });
    expect(await run(other)).toEqual({ code: 0, stdout: `${other}\n`, stderr: '' });
    expect(await run(one)).toMatchObject({ code: 0, stdout: '' });
  });

  it.each([
    [['nothing-of-this-name'], 127, 'spawn nothing-of-this-name ENOENT'],
    [['/etc/passwd'], 126, 'spawn /etc/passwd EACCES'],
  ])('tells that %j cannot be run', async (command, code, why) => {
    const name = randomName('run');
    const ended = await runCli(['run', name, '--', ...command], env);
    expect(ended).toEqual({ code, stdout: '', stderr: `holdfast run: ${why}\n` });
    expect(await (await connect()).getLock(name).isLocked()).toBe(false);
  });

  it.each([
    [['run', 'x'], 'missing command: holdfast run <name> -- command args'],
    [['run', 'x', '--fair', '--permits', '2', '--', 'true'], '--fair and --permits exclude each other'],
    [['run', 'x', '--once-ttl', '1s', '--', 'true'], '--once-ttl needs --once'],
    [
      ['run', 'x', '--once', 'k', '--permits', '2', '--', 'true'],
      '--once and --permits exclude each other: each permit would run the command',
    ],
    [
      ['run', 'x', '--lease', '1s', '--grace', '2s', '--', 'true'],
      '--grace 2000ms does not fit into the lease, which allows 375 ms: use a longer --lease or --watchdog',
    ],
    [
      ['run', 'x', '--wait', 'long', '--', 'true'],
      "option '--wait <time>' argument 'long' is invalid. Expected milliseconds, or a number with ms, s, m, h or d.",
    ],
  ])('answers %j with one line, and exits with 2', async (args, line) => {
    expect(await runCli(args, env)).toEqual({ code: 2, stdout: '', stderr: `holdfast run: ${line}\n` });
  });
});
