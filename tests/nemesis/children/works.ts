/** A worker: takes a lock, says what its clocks show, and does to itself what it is ordered to. */
import { Holdfast } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';

const { host, port, name, watchdogMs } = JSON.parse(process.argv[2] as string) as {
  host: string;
  port: number;
  name: string;
  watchdogMs: number;
};
const client = await Holdfast.connect({ host, port }, { watchdogMs, closeOnSignals: true });
const hold = await client.getLock(name).lock();
hold.signal.addEventListener('abort', () => tell({ lost: hold.signal.reason.reason }));

let lookedAt = performance.now();
setInterval(() => {
  const now = performance.now();
  tell({ wallMs: Date.now(), gapMs: now - lookedAt });
  lookedAt = now;
}, 50);
tell({ held: hold.owner });

onOrder(({ order, ms }) => {
  if (order === 'block') {
    const until = performance.now() + Number(ms);
    while (performance.now() < until);
  } else if (order === 'exit') {
    process.exit(3);
  } else {
    throw new Error('uncaught on purpose');
  }
});
