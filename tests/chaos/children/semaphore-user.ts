/** Takes a permit, tells, and stays inside: `semaphore-user.ts <url> <name> [closeOnSignals]`. */
import { Holdfast } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';

const [url = '', name = '', signals = ''] = process.argv.slice(2);
const client = await Holdfast.connect(url, { closeOnSignals: signals === 'closeOnSignals' });
onOrder(() => {});
await client.getSemaphore(name).withPermit(() => {
  tell({ state: 'inside' });
  return new Promise(() => {});
});
