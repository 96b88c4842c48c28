/**
 * A Cluster whose shards lose what their primary granted last, and how the guard is told that a server has run for
 * long.
 */
import type { TestServer } from '../../src/testing/index.ts';
import { slotOf, tagOfSlot } from '../../src/slots.ts';
import type { TestCluster } from '../harness/cluster.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';

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

/**
 * What is written on the primary from here on reaches no replica: those that are connected are sent away, and may
 * not come back. Answers how it is undone.
 */
export async function cutReplication(primary: TestServer): Promise<() => Promise<void>> {
  await primary.command('ACL', 'SETUSER', 'default', '-psync', '-sync');
  await primary.command('CLIENT', 'KILL', 'TYPE', 'replica');
  await eventually(async () =>
    String(await primary.command('INFO', 'replication')).includes('connected_slaves:0'),
  );
  return async () => {
    await primary.command('ACL', 'SETUSER', 'default', '+@all');
  };
}
