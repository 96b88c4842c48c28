/** Takes one side of a read/write lock and says so: `read-write-lock-holds.ts <url> <name> <side> <watchdogMs>`. */
import { Holdfast } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';

const [url = '', name = '', side = '', watchdogMs = ''] = process.argv.slice(2);
const client = await Holdfast.connect(url, { watchdogMs: Number(watchdogMs) });
onOrder(() => {});
const lock = client.getReadWriteLock(name, side === 'prefer' ? { prefer: 'writer' } : undefined);
tell({ state: 'waiting' });
const hold = await (side === 'read' ? lock.readLock() : lock.writeLock()).lock();
tell({ state: 'held', owner: hold.owner });
