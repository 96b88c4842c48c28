/** The record that says who a client is, at a new primary that never got it. */
import { expect, it, vi } from 'vitest';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { listenTo } from './support/arena.ts';
import { GUARDED, stage, take } from './support/failover-stage.ts';

vi.setConfig({ testTimeout: 60_000 });

const LABEL = 'billing, worker 7';

describeWithProcess('the label of a client after a failover', () => {
  it('comes back with the next period of a holder that the guard let stay', async () => {
    const staged = await stage();
    const name = randomName();
    const client = await staged.client({ ...GUARDED, label: LABEL });
    const { lost, warning } = listenTo(client);
    // Neither the lock nor the record reaches the replica.
    staged.cutReplication();
    const hold = await take(client.getLock(name));
    const recordsAt = (server: TestServer) => server.command('KEYS', 'holdfast_client:*');
    await eventually(async () => expect(await recordsAt(staged.primary)).toHaveLength(1));
    expect(await recordsAt(staged.promoted)).toEqual([]);
    await staged.failOver();
    const observer = await staged.client(GUARDED);
    await eventually(
      async () => {
        expect(await observer.inspect(name)).toMatchObject({ holders: [{ client: { label: LABEL } }] });
      },
      { withinMs: 10_000 },
    );
    expect([lost, warning.filter(({ code }) => code === 'HOLDFAST_NO_LABEL')]).toEqual([[], []]);
    expect(await hold.unlock()).toBe(true);
    await client.close();
    expect(await recordsAt(staged.promoted)).toEqual([]);
  });
});
