/** The program of docs/getting-started.md that two terminals run: what the page says happens when one of them ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blockProgram } from './support/block-program.ts';
import { type PrivateServer, startPrivateServer } from './support/private-server.ts';

const LEASE_MS = 5_000;

describe('two terminals', { timeout: 60_000 }, () => {
  let server: PrivateServer;
  beforeAll(async () => {
    server = await startPrivateServer();
  });
  afterAll(() => server.close());

  /** The first has the lock, the second waits for it. */
  async function contend() {
    const start = blockProgram('tests/examples/two-terminals.test.ts', server);
    const first = start();
    await first.until(`process ${first.pid} has the lock`);
    const second = start();
    await second.until(`process ${second.pid} wants the lock`);
    return { first, second };
  }

  it('the second process waits for longer than the lease while the first lives', async () => {
    const { second } = await contend();
    await sleep(LEASE_MS + 1_000);
    expect(second.printed).toEqual([`process ${second.pid} wants the lock`]);
  });

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'the second process gets the lock within the lease when %s ends the first',
    async (signal) => {
      const { first, second } = await contend();
      first.kill(signal);
      expect(await first.ended).toEqual({ code: null, signal });
      const endedAt = performance.now();
      await second.until(`process ${second.pid} has the lock`);
      // The lease, and the time that a busy machine takes to print a line.
      expect(performance.now() - endedAt).toBeLessThan(LEASE_MS + 2_000);
      expect(first.printed).toEqual([
        `process ${first.pid} wants the lock`,
        `process ${first.pid} has the lock`,
      ]);
    },
  );
});
