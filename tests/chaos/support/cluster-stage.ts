/** Where locks of a Cluster are, and how the guard is told that a server there has run for long. */

import { slotOf, tagOfSlot } from '../../../src/slots.ts';
import type { TestServer } from '../../../src/testing/index.ts';
import type { TestCluster } from '../../harness/cluster.ts';
import { randomName } from '../../harness/names.ts';

/** Has a primary judged, for the slot of a key, as one that has run for long and cannot have forgotten a hold. */
export async function settleSlot(primary: TestServer, key: string): Promise<void> {
  const info = String(await primary.command('INFO', 'replication'));
  const id = /master_replid:(\w+)/.exec(info)?.[1] ?? '';
  await primary.command('SET', `holdfast_guard:{${tagOfSlot(slotOf(key))}}`, `${id} 0`);
}

/** A name that has its home on that primary. */
export async function nameOn(cluster: TestCluster, primary: TestServer): Promise<string> {
  for (;;) {
    const name = randomName('shard');
    if ((await cluster.primaryOf(name)) === primary) return name;
  }
}
