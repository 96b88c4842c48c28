/** Uses some primitives, and ends: `debugged.ts <url> <name>`. */
import { Holdfast } from '../../../src/index.ts';

const [url = '', name = ''] = process.argv.slice(2);
const client = await Holdfast.connect(url, { label: 'debugged' });
const lock = client.getLock(name);
await lock.withLock(() => 1);
await lock.lock();
await lock.tryLock();
await lock.forceUnlock();
await client.close();
