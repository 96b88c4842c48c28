/** One attempt of a call that may have run makes the whole call doubtful, whatever became of the others. */
import { expect, it } from 'vitest';
import { DriverError, OutcomeUnknownError } from '../../src/index.ts';
import * as scripts from '../../src/scripts/generated.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { arena, join, timed } from './support/arena.ts';
import { runs } from './support/requests.ts';

/** Longer than a client takes to come back when it is let in again: at most a second between two tries. */
const OPTIONS = { commandTimeoutMs: 2_000 };

describeWithProcess(
  'a call whose first attempts were not sent, and whose last attempt ran without an answer',
  () => {
    it('a release of a semaphore is not reported as failed, and counts once', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      await server.command('SET', name, 4);
      const client = await join('Holdfast.connect', proxy, OPTIONS);
      const semaphore = client.getSemaphore(name);
      await proxy.refuse();
      // The connection is known to be gone: from here on nothing is sent.
      await eventually(async () => (await timed(semaphore.availablePermits())).error instanceof DriverError);
      const swallowed = proxy.swallowReply(runs(scripts.semaphoreRelease), { after: 'silence' });
      const released = timed(semaphore.release());
      await proxy.heal();
      await swallowed;
      expect((await released).error).toBeInstanceOf(OutcomeUnknownError);
      await proxy.heal();
      await eventually(() => semaphore.availablePermits());
      expect(await server.command('GET', name)).toBe('5');
    });

    it('an unlock is not reported as failed', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const client = await join('Holdfast.connect', proxy, OPTIONS);
      const hold = await client.getLock(name).lock();
      await proxy.refuse();
      await eventually(
        async () => (await timed(client.getLock(name).isLocked())).error instanceof DriverError,
      );
      const swallowed = proxy.swallowReply(runs(scripts.lockEnd), { after: 'silence' });
      const released = timed(hold.unlock());
      await proxy.heal();
      await swallowed;
      expect((await released).error).toBeInstanceOf(OutcomeUnknownError);
      expect(await server.command('EXISTS', name)).toBe(0);
    });
  },
);
