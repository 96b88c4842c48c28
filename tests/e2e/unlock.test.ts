/** `unlock --force`, as a program: whom it frees, and that it asks. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ClientOptions, Holdfast } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { runCli } from './support/cli.ts';
import { describeAtTerminal, Terminal } from './support/terminal.ts';

const WITHIN = { timeout: 60_000 };
const JAVA = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455:81';

let env: Record<string, string>;
beforeAll(() => {
  env = { HOLDFAST_URL: sharedServer().url };
});

async function connect(options?: ClientOptions): Promise<Holdfast> {
  const client = await Holdfast.connect(sharedServer().url, options);
  onTestFinished(() => client.close());
  return client;
}

const force = (name: string, ...flags: string[]) => runCli(['unlock', name, '--force', ...flags], env);

describe('holdfast unlock', WITHIN, () => {
  it('refuses without --force, and without a terminal to ask at', async () => {
    const refused = (line: string) => ({ code: 2, stdout: '', stderr: `holdfast unlock: ${line}\n` });
    expect(await runCli(['unlock', 'x'], env)).toEqual(
      refused('a lock belongs to its holder; --force frees it all the same'),
    );
    expect(await force('x')).toEqual(
      refused('unlock --force needs a confirmation: use --yes without a terminal'),
    );
  });

  it('frees a holder, and says whom', async () => {
    const name = randomName('unlock');
    const client = await connect({ label: 'billing 7', watchdogMs: 1_000 });
    const hold = await client.getLock(name).lock();
    const lost = new Promise((resolve) => hold.signal.addEventListener('abort', resolve));
    const { code, stdout, stderr } = await force(name, '--yes');
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Freed "${name}" from ${hold.owner}.\n` });
    expect(stderr).toContain(hold.owner);
    await lost;
    expect(await force(name, '--yes')).toEqual({ code: 0, stdout: `"${name}" is not held.\n`, stderr: '' });
  });

  it('frees a thread of Java, a writer that reads, and a simple lock', async () => {
    const [java, rw, simple] = [randomName('java'), randomName('rw'), randomName('simple')];
    const raw = await openShared();
    await raw.command('HSET', java, JAVA, '1');
    const client = await connect();
    const owner = client.owner();
    await client.getReadWriteLock(rw).writeLock().lock({ owner });
    await client.getReadWriteLock(rw).readLock().lock({ owner });
    await client.getSimpleLock(simple).lock();
    for (const name of [java, rw, simple]) {
      const { code, stdout } = await force(name, '--yes', '--json');
      expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, name, freed: true });
      expect(await raw.command('EXISTS', name)).toBe(0);
    }
  });

  it('frees one of several readers, or permits, which has to be named', async () => {
    const [rw, permits] = [randomName('rw'), randomName('permits')];
    const client = await connect();
    const readers = [1, 2].map(() => client.getReadWriteLock(rw).readLock().lock({ leaseMs: 60_000 }));
    const [first, second] = await Promise.all(readers);
    const several = await force(rw, '--yes');
    expect(several).toMatchObject({ code: 2, stdout: '' });
    expect(several.stderr).toMatch(/ has 2 holders; choose one with --owner: /);
    expect(await force(rw, '--yes', '--owner', first?.owner ?? '')).toMatchObject({ code: 0 });
    const left = await client.inspect(rw);
    expect(left).toMatchObject({ kind: 'readWrite', holders: [{ owner: second?.owner }] });

    const semaphore = client.getPermitExpirableSemaphore(permits, { permits: 2 });
    const [one, other] = [
      await semaphore.acquire({ leaseMs: 60_000 }),
      await semaphore.acquire({ leaseMs: 60_000 }),
    ];
    expect(await force(permits, '--yes', '--owner', one.id)).toMatchObject({ code: 0 });
    expect(await client.inspect(permits)).toMatchObject({ freePermits: 1, permits: [{ id: other.id }] });
  });
});

describeAtTerminal('holdfast unlock at a terminal', () => {
  it('asks, and frees nothing without a yes', WITHIN, async () => {
    const name = randomName('unlock');
    const client = await connect({ label: 'billing 7' });
    const hold = await client.getLock(name).lock();
    for (const [answer, code, isLocked] of [
      ['\n', 1, true],
      ['y\n', 0, false],
    ] as const) {
      const terminal = new Terminal(['unlock', name, '--force'], env);
      await eventually(() => terminal.output.includes('[y/N]'), { withinMs: 30_000 });
      expect(terminal.output).toContain(`Free "${name}" from ${hold.owner}?`);
      terminal.type(answer);
      expect(await terminal.ended).toBe(code);
      expect(await client.getLock(name).isLocked()).toBe(isLocked);
    }
  });

  it('leaves an owner alone that took the lock while the person thought', WITHIN, async () => {
    const name = randomName('unlock');
    const client = await connect();
    const first = await client.getLock(name).lock();
    const terminal = new Terminal(['unlock', name, '--force'], env);
    await eventually(() => terminal.output.includes('[y/N]'), { withinMs: 30_000 });
    await first.unlock();
    const second = await client.getLock(name).lock({ leaseMs: 60_000 });
    terminal.type('yes\n');
    expect(await terminal.ended).toBe(1);
    expect(terminal.output).toContain(`Nothing was freed: ${first.owner} no longer holds "${name}".`);
    expect(await client.inspect(name)).toMatchObject({ holders: [{ owner: second.owner }] });
  });
});
