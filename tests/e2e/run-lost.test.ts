/** `run` when its lock is lost: the command is gone before the next holder comes. */
import { expect, it, onTestFinished } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import { isRunning } from '../harness/processes.ts';
import { describeWithProcess, ownProxy, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { RunningCli } from './support/cli.ts';

/** Prints the ids of two processes, both of which ignore TERM. */
const STUBBORN = 'trap "" TERM; (while :; do sleep 0.02; done) & echo $$ $!; while :; do sleep 0.02; done';

/** Prints its id, and on TERM what it does then. */
const POLITE = 'trap "echo cleaned; exit 0" TERM; echo $$; while :; do sleep 0.02; done';

async function stage() {
  const server = await ownServer();
  const proxy = await ownProxy(server);
  const rival = await Holdfast.connect(server.url);
  onTestFinished(() => rival.close());
  const start = (script: string, ...flags: string[]) => {
    const args = ['run', 'gate', '--url', proxy.url, '--command-timeout', '500ms', ...flags];
    return new RunningCli([...args, '--', 'sh', '-c', script]);
  };
  return { server, proxy, rival, start };
}

/** The process ids that the command has printed. */
async function pidsOf(cli: RunningCli): Promise<number[]> {
  const line = await eventually(() => /^[\d ]+\n/.exec(cli.stdout)?.[0] ?? false, { withinMs: 20_000 });
  const pids = String(line).trim().split(' ').map(Number);
  onTestFinished(() => {
    for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL');
  });
  return pids;
}

describeWithProcess('holdfast run, cut off from the server', () => {
  it('kills a command that ignores TERM, and what it started, before another owner has the lock', async () => {
    const { proxy, rival, start } = await stage();
    const cli = start(STUBBORN, '--watchdog', '3s', '--grace', '500ms');
    const pids = await pidsOf(cli);
    expect(pids.map(isRunning)).toEqual([true, true]);
    const next = rival.getLock('gate').lock();
    proxy.blackhole();
    await next;
    // In the very turn in which the next holder learns of its lock.
    expect(pids.map(isRunning)).toEqual([false, false]);
    const { code, stderr } = await cli.ended;
    expect(code).toBe(118);
    expect(stderr).toMatch(/^holdfast run: stopping the command, \d+ ms before "gate" must be given up: /m);
  });

  it('lets a command clean up that ends on TERM', async () => {
    const { proxy, rival, start } = await stage();
    const cli = start(POLITE, '--watchdog', '3s');
    const [pid = 0] = await pidsOf(cli);
    await proxy.refuse();
    await rival.getLock('gate').lock();
    expect(isRunning(pid)).toBe(false);
    expect(await cli.ended).toMatchObject({ code: 118, stdout: `${pid}\ncleaned\n` });
  });

  it('goes on through an outage that is shorter than the lease', async () => {
    const { proxy, rival, start } = await stage();
    const script = 'trap "exit 5" TERM; echo $$; while ! [ -e "$0.stop" ]; do sleep 0.02; done';
    const cli = start(script, '--watchdog', '6s', '--grace', '200ms');
    const [pid = 0] = await pidsOf(cli);
    const waiting = rival.getLock('gate').tryLock({ waitMs: 8_000 });
    await proxy.refuse();
    // Until after the first renewal has failed.
    await eventually(async () => ((await rival.getLock('gate').getRemainingMs()) ?? 0) < 3_400, {
      withinMs: 6_000,
    });
    await proxy.heal();
    expect(await waiting).toBeNull();
    expect(isRunning(pid)).toBe(true);
    cli.signal('SIGTERM');
    expect(await cli.ended).toMatchObject({ code: 5 });
  });
});

describeWithProcess('holdfast run, whose lock is taken away', () => {
  it('kills the command as soon as it learns of that', async () => {
    const { server, start } = await stage();
    const cli = start(POLITE, '--watchdog', '900ms');
    const [pid = 0] = await pidsOf(cli);
    expect(await server.command('DEL', 'gate')).toBe(1);
    const { code, stdout, stderr } = await cli.ended;
    expect({ code, stdout }).toEqual({ code: 118, stdout: `${pid}\n` });
    expect(stderr).toContain('the server no longer has this hold');
    expect(isRunning(pid)).toBe(false);
  });

  it('ends the command before its explicit lease does', async () => {
    const { rival, start } = await stage();
    const cli = start(STUBBORN, '--lease', '5s', '--grace', '1s');
    const pids = await pidsOf(cli);
    await rival.getLock('gate').lock();
    expect(pids.map(isRunning)).toEqual([false, false]);
    expect(await cli.ended).toMatchObject({ code: 118 });
  });
});
