/** Tasks of one process that take one lock again and again, and count inside how often they had it. */
import { onOrder, tell } from '../../harness/in-child.ts';
import { kindCalled } from '../support/kinds.ts';
import { openWay, type Place } from '../support/ways.ts';

export interface HammersSettings {
  readonly place: Place;
  readonly kind: string;
  readonly name: string;
  readonly options: object;
  readonly tasks: number;
  /** The key that counts the holds. */
  readonly counter: string;
}

const settings = JSON.parse(process.argv[2] as string) as HammersSettings;
const { Redis } = await import('ioredis');
const { host, port } = settings.place;
const redis = new Redis({ host, port });
const { client, close } = await openWay('Holdfast.connect', settings.place, settings.options);
const lock = kindCalled(settings.kind).get(client, settings.name);
let isOver = false;

async function hammer(): Promise<void> {
  while (!isOver) {
    await using _hold = await lock.lock();
    await redis.incr(settings.counter);
  }
}

const hammering = Promise.all(Array.from({ length: settings.tasks }, hammer));
onOrder(() => {
  isOver = true;
  void hammering
    .then(close)
    .then(() => redis.disconnect())
    .then(() => tell({ over: true }));
});
tell({ ready: true });
