/** Replication that ends while primary and replica live on, where no proxy is between them. */
import type { TestServer } from '../../src/testing/index.ts';
import { eventually } from './wait.ts';

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
