/** A theft that too few replicas acknowledge: the thief does not keep the lock, and who it was taken from is told. */
import { expect, it } from 'vitest';
import type { WebLock } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { ownReplicas } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { join, listenTo } from './support/arena.ts';

describeWithProcess('stealing while the replica stands still', () => {
  it('aborts the signal of a holder of the same client, long before its next renewal', async () => {
    const { primary, replicas } = await ownReplicas({ replicas: 1 });
    await whenAcknowledging(primary, 1);
    const client = await join('Holdfast.connect', primary, { replicas: 1, replicaTimeoutMs: 500 });
    const heard = listenTo(client);
    const name = randomName();
    let held: WebLock | undefined;
    const robbed = client.locks.request(name, async (lock) => {
      held = lock;
      await new Promise((resolve) => lock.signal.addEventListener('abort', resolve));
    });
    robbed.catch(() => undefined);
    await eventually(() => held !== undefined);

    await replicas[0]?.server.pause();
    const theft = client.locks.request(name, { steal: true }, () => 'stolen');
    await expect(theft).rejects.toMatchObject({ code: 'ERR_REPLICATION' });
    await expect(robbed).rejects.toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'forced' });
    expect(heard.lost).toMatchObject([{ reason: 'forced' }]);
  });
});
