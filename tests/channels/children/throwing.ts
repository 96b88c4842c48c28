/** Has subscribers that throw, and tells what becomes of the calls: `throwing.ts <url> <name>`. */
import { subscribe, tracingChannel } from 'node:diagnostics_channel';
import { Holdfast } from '../../../src/index.ts';
import { tell } from '../../harness/in-child.ts';

const [url = '', name = ''] = process.argv.slice(2);
const thrown: string[] = [];
process.on('uncaughtException', (error) => thrown.push(error.message));

for (const channel of ['acquire', 'hold', 'release', 'renew']) {
  const channels = tracingChannel(`holdfast:${channel}`);
  for (const step of ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const) {
    subscribe(String(channels[step].name), () => {
      throw new Error(`${channel} ${step}`);
    });
  }
}
subscribe('holdfast:lost', () => {
  throw new Error('lost');
});

const client = await Holdfast.connect(url);
const lock = client.getLock(name);
const unlocked = await (await lock.lock()).unlock();
const hold = await lock.lock();
await lock.forceUnlock();
const { signal } = hold;
const refused = await client
  .getLock('not')
  .lock({ signal: AbortSignal.abort('no') })
  .catch((error: unknown) => error);
await client.close();
setImmediate(() => {
  tell({ unlocked, aborted: signal.aborted, refused, thrown: [...new Set(thrown)].sort() });
});
