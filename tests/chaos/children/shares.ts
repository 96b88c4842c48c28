/** Tasks of one process that take a lock until it was had so often by all processes; tells how often by this one. */
import { onOrder, tell } from '../../harness/in-child.ts';
import { kindCalled } from '../support/kinds.ts';
import { openWay, type Place } from '../support/ways.ts';

export interface SharesSettings {
  readonly place: Place;
  readonly kind: string;
  readonly name: string;
  readonly tasks: number;
  /** The key that counts the holds of all processes, and where the count ends. */
  readonly counter: string;
  readonly total: number;
}

const settings = JSON.parse(process.argv[2] as string) as SharesSettings;
const { Redis } = await import('ioredis');
const { host, port } = settings.place;
const redis = new Redis({ host, port });
const { client, close } = await openWay('Holdfast.connect', settings.place);
const lock = kindCalled(settings.kind).get(client, settings.name);
let holds = 0;

async function share(): Promise<void> {
  for (;;) {
    await using _hold = await lock.lock();
    if ((await redis.incr(settings.counter)) > settings.total) return;
    holds += 1;
  }
}

onOrder(() => {
  void Promise.all(Array.from({ length: settings.tasks }, share))
    .then(close)
    .then(() => redis.disconnect())
    .then(() => tell({ holds }));
});
await redis.ping();
tell({ ready: true });
