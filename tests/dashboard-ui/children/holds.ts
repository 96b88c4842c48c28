/**
 * Asks for a lock, says so, and holds it until it is told to release: `holds.ts <url> <name> <options as JSON>`. The
 * options are those of a client, with `kind` and `leaseMs` of the lock.
 */
import { Holdfast } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';
import type { HolderOptions } from '../support/children.ts';

const [url = '', name = '', json = '{}'] = process.argv.slice(2);
const { kind = 'lock', leaseMs, ...options } = JSON.parse(json) as HolderOptions;
const client = await Holdfast.connect(url, options);
const lock = {
  lock: () => client.getLock(name),
  fair: () => client.getFairLock(name),
  read: () => client.getReadWriteLock(name).readLock(),
}[kind]();
tell({ state: 'asking', clientId: client.id });
const hold = await lock.lock(leaseMs === undefined ? {} : { leaseMs });
tell({ state: 'held', owner: hold.owner });
onOrder(() => {
  void hold.unlock().then(() => tell({ state: 'released' }));
});
