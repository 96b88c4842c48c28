/**
 * Holds a lock with closeOnSignals, in a program that may have a handler of its own: `shuts-down.ts <url> <name>
 * [on | once]`. That handler needs a little longer than the release, and ends the process with code 7.
 */
import { Holdfast } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';

const [url = '', name = '', own] = process.argv.slice(2);

async function shutDown(): Promise<void> {
  await client.close();
  // Whatever the library does once it has closed has been done by then.
  setTimeout(() => process.exit(7), 100);
}

if (own === 'on' || own === 'once') process[own]('SIGTERM', () => void shutDown());
const client = await Holdfast.connect(url, { closeOnSignals: true });
await client.getLock(name).lock();
onOrder(() => {});
tell({ pid: process.pid });
