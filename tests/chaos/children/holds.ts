/** Takes a lock, tells, and does to itself what it is ordered to. */
import { onOrder, tell } from '../../harness/in-child.ts';
import { kindCalled } from '../support/kinds.ts';
import { passedOn } from '../support/passed-on.ts';
import { openWay, type Place, type Way } from '../support/ways.ts';

export interface HoldsSettings {
  readonly way: Way;
  readonly place: Place;
  readonly kind: string;
  readonly name: string;
  readonly options: object;
  /** How long to block the event loop as soon as the lock is held; 0 for not at all. */
  readonly blockMs?: number;
  /** Whether another task of this process takes the lock first, and hands it on. */
  readonly isPassedOn?: boolean;
}

const settings = JSON.parse(process.argv[2] as string) as HoldsSettings;
const { client } = await openWay(settings.way, settings.place, settings.options);
const lock = kindCalled(settings.kind).get(client, settings.name);
client.on('stalled', ({ lateMs }) => tell({ stalledMs: lateMs }));

const hold = settings.isPassedOn ? (await passedOn(lock)).hold : await lock.lock();
hold.signal.addEventListener('abort', () => tell({ lost: hold.signal.reason.reason }));

/** What the code that runs next finds, before any timer could fire. */
function check(): void {
  try {
    hold.assertHeld();
    tell({ asserted: 'held', remainingMs: hold.remainingMs });
  } catch (error) {
    tell({ asserted: (error as { code: string }).code, remainingMs: hold.remainingMs });
  }
  setImmediate(() => tell({ aborted: hold.signal.aborted }));
}

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
  check();
}

/** The stop may come a little after the signal: it is over when the clock has jumped. */
function stop(): void {
  let last = performance.now();
  process.kill(process.pid, 'SIGSTOP');
  for (let now = performance.now(); now - last < 500; now = performance.now()) last = now;
  check();
}

tell({ held: hold.owner });
if (settings.blockMs) block(settings.blockMs);

onOrder(({ order, ms }) => {
  if (order === 'check') check();
  else if (order === 'block') block(ms as number);
  else if (order === 'stop') stop();
  else if (order === 'unlock') void hold.unlock().then((unlocked) => tell({ unlocked }));
  else if (order === 'exit') process.exit(3);
  else if (order === 'throw') throw new Error('uncaught on purpose');
});
