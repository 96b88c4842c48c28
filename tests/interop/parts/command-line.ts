/** The command line beside Java: what it shows of Java's locks, and commands that take turns with Java. */
import { describe, expect, it } from 'vitest';
import { RunningCli, runCli } from '../../e2e/support/cli.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from '../support/context.ts';
import { javaLock, javaOwner } from '../support/java-objects.ts';

const WITHIN_MS = 90_000;

export function describeCommandLine(interop: Interop): void {
  // A Cluster is another flag, which tests/e2e tries.
  if (interop.topology.isCluster) return;
  const env = () => ({ HOLDFAST_URL: String(interop.place.nodeTarget) });

  describe('the command line beside Java', () => {
    it(
      "run waits for Java's lock, and Java for the command",
      async () => {
        const name = randomName('interop');
        const theirs = javaLock(interop.java, 'lock', name);
        await theirs.lock();
        const owner = await javaOwner(interop.java, theirs.thread);
        const refused = await runCli(['run', name, '--wait', '0', '--', 'true'], env());
        expect(refused).toMatchObject({ code: 117, stderr: expect.stringContaining(`held by ${owner}\n`) });

        const script = 'echo in; while ! [ "$stop" ]; do sleep 0.05; done';
        const stopping = `trap 'stop=1' USR1; ${script}; echo out`;
        const cli = new RunningCli(['run', name, '--', 'bash', '-c', stopping], env());
        await eventually(async () => (await interop.place.listeners('redisson_lock__channel')) > 0, {
          withinMs: 30_000,
        });
        expect(cli.stdout).toBe('');
        await theirs.unlock();
        await eventually(() => cli.stdout === 'in\n', { withinMs: 30_000 });
        expect(await theirs.tryLock()).toBe(false);
        const waiting = theirs.lock();
        cli.signal('SIGUSR1');
        await waiting;
        expect(await cli.ended).toMatchObject({ code: 0, stdout: 'in\nout\n' });
        await theirs.unlock();
      },
      WITHIN_MS,
    );

    it(
      "shows and frees Java's hold, and Java learns of it",
      async () => {
        const name = randomName('interop');
        const theirs = javaLock(interop.java, 'lock', name);
        await theirs.lock();
        const owner = await javaOwner(interop.java, theirs.thread);
        const { stdout } = await runCli(['ls', name, '--json'], env());
        expect(JSON.parse(stdout)).toMatchObject([
          { name, kind: 'lock', holders: [{ owner, client: null }] },
        ]);
        const freed = await runCli(['unlock', name, '--force', '--yes', '--json'], env());
        expect(JSON.parse(freed.stdout)).toEqual({ name, owner, freed: true });
        await expect(theirs.unlock()).rejects.toThrow('IllegalMonitorStateException');
      },
      WITHIN_MS,
    );
  });
}
