/**
 * Waits for a fair lock many times over, and enters everybody who gets in into a list on the server:
 * `fair-lock-waits.ts <url> <name> <waiters> <client options as JSON>`.
 */
import { Holdfast } from '../../../src/index.ts';
import { RawConnection } from '../../../src/testing/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';

const [url = '', name = '', waiters = '1', options = '{}'] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const raw = await RawConnection.connect(hostname, Number(port));
const client = await Holdfast.connect(url, JSON.parse(options));
const lock = client.getFairLock(name);
onOrder(() => {});

const all = Array.from({ length: Number(waiters) }, () =>
  lock.withLock((hold) => raw.command('RPUSH', `served:${name}`, hold.owner)),
);
tell({ waiting: all.length });
await Promise.all(all);
tell({ served: all.length });
