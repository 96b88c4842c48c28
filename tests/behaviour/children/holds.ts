/** Takes a lock and says so: `holds.ts <url> <name> <watchdogMs> [closeOnSignals]`. */
import { Holdfast } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';

const [url = '', name = '', watchdogMs = '', signals = ''] = process.argv.slice(2);
const client = await Holdfast.connect(url, {
  watchdogMs: Number(watchdogMs),
  closeOnSignals: signals === 'closeOnSignals',
});
const hold = await client.getLock(name).lock();
tell({ state: 'held', owner: hold.owner });
onOrder(() => {});
