/** Visits to the locks of one name: taken in every way, held for a moment or too long, given back. */
import type { Hold, Lock } from '../../../src/index.ts';
import type { RecordedHold, RecordedRequest } from '../../../src/testing/history/recorder.ts';
import { addOne, holdMs, leaseOf, nameOf, pause, type Visit, type VisitContext, waitOf } from './visit.ts';

const NAMES = 8;
/** Every tenth section writes to the witness: asking it costs more than taking a lock. */
const WITNESSED = 0.1;

type LockRequest = Omit<RecordedRequest, 'worker'>;

/** Waits as long as it takes, or until the storm is over, or for a given time. */
async function take<H extends Hold>(
  context: VisitContext,
  request: LockRequest,
  lock: Pick<Lock, 'lock' | 'tryLock'>,
  extra: object = {},
): Promise<RecordedHold<H> | null> {
  const { recorder, random, worker, over } = context;
  const leaseMs = leaseOf(context);
  const lease = leaseMs === undefined ? {} : { leaseMs };
  const about = { worker, ...request, ...lease };
  if (random.chance(0.15)) {
    const options = { ...lease, ...extra, signal: giveUpSometimes(context) ?? over };
    return recorder.acquire(about, () => lock.lock(options) as Promise<H>);
  }
  const waitMs = waitOf(context);
  const options = { ...lease, ...extra, waitMs };
  return recorder.acquire({ ...about, waitMs }, () => lock.tryLock(options) as Promise<H | null>);
}

/** A signal that aborts a wait after a while; undefined in most calls. */
function giveUpSometimes({ random, watchdogMs, over }: VisitContext): AbortSignal | undefined {
  if (!random.chance(0.3)) return undefined;
  return AbortSignal.any([over, AbortSignal.timeout(Math.ceil(random.between(0, 0.3) * watchdogMs))]);
}

/** Stays inside, sometimes with a longer lease than at first, and leaves. */
async function stay(context: VisitContext, recorded: RecordedHold<Hold>, leaseMs: number): Promise<void> {
  const { random } = context;
  const { hold } = recorded;
  if (random.chance(0.02)) await hold.extend(Math.ceil(leaseMs)).catch(() => undefined);
  await pause(holdMs(context, leaseMs));
  await recorded.release(() => hold.unlock());
}

async function visitLock(
  context: VisitContext,
  request: LockRequest & { readonly key: string },
  lock: Lock,
): Promise<void> {
  const recorded = await take(context, request, lock);
  if (recorded === null) return;
  const leaseMs = recorded.hold.remainingMs;
  if (context.random.chance(WITNESSED)) {
    const forMs = holdMs(context, leaseMs);
    await addOne(context, recorded, { counter: 'plain', key: request.key, forMs });
    await recorded.release(() => recorded.hold.unlock());
  } else {
    await stay(context, recorded, leaseMs);
  }
}

/** The reentrant, the non-reentrant and the spin lock share their keys. */
export const lock: Visit = async (context) => {
  const { client, random } = context;
  const key = nameOf(context, 'lock', NAMES);
  const kinds = [
    () => client.getLock(key),
    () => client.getLock(key),
    () => client.getNonReentrantLock(key),
    () => client.getSpinLock(key, { backoff: { kind: 'exponential', initialMs: 2, maxMs: 60 } }),
  ];
  await visitLock(context, { key, kind: 'lock' }, random.pick(kinds)());
};

export const simple: Visit = async (context) => {
  const key = nameOf(context, 'simple', 3);
  await visitLock(context, { key, kind: 'lock' }, context.client.getSimpleLock(key));
};

/** A queue takes its turns one after the other: nearly every visit is short, and few are on their way at a time. */
export const fair: Visit = async (context) => {
  const key = nameOf(context, 'fair', 2);
  await visitLock(context, { key, kind: 'fair' }, context.client.getFairLock(key));
};

export const readWrite: Visit = async (context) => {
  const key = nameOf(context, 'rw', 5);
  const isReading = context.random.chance(0.7);
  const sides = context.client.getReadWriteLock(key);
  const [kind, side] = isReading
    ? (['read', sides.readLock()] as const)
    : (['write', sides.writeLock()] as const);
  const recorded = await take(context, { key, kind }, side);
  if (recorded !== null) await stay(context, recorded, recorded.hold.remainingMs);
};

/** The token guards a counter in memory, or a row of a database. */
export const fenced: Visit = async (context) => {
  const { client, random } = context;
  const key = nameOf(context, 'fenced', 5);
  const recorded = await take(context, { key, kind: 'fenced' }, client.getFencedLock(key));
  if (recorded === null) return;
  const forMs = holdMs(context, recorded.hold.remainingMs);
  if (random.chance(WITNESSED)) {
    await addOne(context, recorded, { counter: random.pick(['memory', 'sql']), key, forMs });
  } else {
    await pause(forMs);
  }
  await recorded.release(() => recorded.hold.unlock());
};

/** One owner enters again; work that it started and left behind is a stranger. */
export const reentry: Visit = async (context) => {
  const { client, recorder, random, worker } = context;
  const key = nameOf(context, 'reentry', 3);
  const isFenced = random.chance(0.5);
  const lock = isFenced ? client.getFencedLock(`${key}f`) : client.getLock(key);
  const owner = client.owner();
  const party = `${recorder.proc}/${worker}/${random.next()}`;
  const request = { key: lock.name, kind: isFenced ? 'fenced' : 'lock', party } as const;
  const outer = await take(context, request, lock, { owner });
  if (outer === null) return;
  try {
    const inner = await take(context, request, lock, { owner });
    try {
      await pause(holdMs(context, outer.hold.remainingMs));
      if (random.chance(0.2)) {
        const stranger = { worker: `${worker}+`, key: lock.name, kind: request.kind, waitMs: 0 };
        const within = await recorder.acquire(stranger, () => lock.tryLock());
        if (within !== null) await within.release(() => within.hold.unlock());
      }
    } finally {
      await inner?.release(() => inner.hold.unlock());
    }
  } finally {
    await outer.release(() => outer.hold.unlock());
  }
};

/** What a section knows of its hold. A signal that was read before the loop was blocked does not abort in time; this does. */
type Inside = Pick<Hold, 'signal' | 'remainingMs'>;

/** Siblings have their owner in common, as re-entries have. What is recorded of them must not look like one. */
function withoutOwner(hold: Hold): Inside {
  return {
    signal: hold.signal,
    get remainingMs() {
      return hold.remainingMs;
    },
  };
}

/**
 * Sections: inside one, siblings that run at the same time take turns, and work that outlives it is a stranger. What
 * siblings exclude each other from is recorded under another name, since the outer section is inside as well.
 */
export const sections: Visit = async (context) => {
  const { client, recorder, random, worker } = context;
  const key = nameOf(context, 'sections', 4);
  const lock = client.getLock(key);
  const waitMs = waitOf(context);
  const inside = async (request: LockRequest, hold: Inside, forMs: number) => {
    const recorded = await recorder.acquire({ worker, ...request }, async () => hold);
    await pause(forMs);
    await recorded?.release(async () => hold.remainingMs > 0);
  };
  let afterwards: Promise<unknown> = Promise.resolve();
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const sibling = (party: string) => {
    const request = { key: `${key}#siblings`, kind: 'lock', party } as const;
    return lock.withLock((hold) => inside(request, withoutOwner(hold), random.between(0, 2)));
  };
  try {
    await lock.withLock(
      async (hold) => {
        const recorded = await recorder.acquire({ worker, key, kind: 'lock' }, async () => hold);
        afterwards = left.then(() =>
          lock.withLock((late) => inside({ key, kind: 'lock' }, late, 0), { waitMs }),
        );
        afterwards.catch(() => undefined);
        await Promise.allSettled([sibling(`${worker}a`), sibling(`${worker}b`)]);
        await recorded?.release(async () => hold.remainingMs > 0);
      },
      { waitMs },
    );
  } finally {
    leave();
    await afterwards.catch(() => undefined);
  }
};

/** Two names at once, in either order. Each name has the window, and plain locks of the same names meet it. */
export const multi: Visit = async (context) => {
  const { client, random } = context;
  const tag = `{${nameOf(context, 'multi', 3)}}`;
  const [first, second] = random.shuffle([`${tag}:1`, `${tag}:2`]) as [string, string];
  if (random.chance(0.3)) {
    await visitLock(context, { key: first, kind: 'lock' }, client.getLock(first));
    return;
  }
  const both = client.getMultiLock(client.getLock(first), client.getLock(second));
  const recorded = await take(context, { key: [first, second], kind: 'lock' }, both);
  if (recorded !== null) await stay(context, recorded, recorded.hold.remainingMs);
};

/** A majority of independent servers. */
export const red: Visit = async (context) => {
  const { clients } = context;
  const key = nameOf(context, 'red', NAMES);
  const [first, ...others] = clients.map((client) => client.getLock(key));
  if (first === undefined) throw new Error('A red lock needs servers');
  await visitLock(
    context,
    { key, kind: 'lock' },
    (clients[0] as (typeof clients)[0]).getRedLock(first, ...others),
  );
};

/** Locks that are forced now and then, under names that nothing else uses. */
export const forced: Visit = async (context) => {
  const { client, recorder, random, worker } = context;
  const key = nameOf(context, 'forced', 2);
  const target = client.getLock(key);
  if (random.chance(0.1)) {
    await recorder.call('force', { worker, key, kind: 'lock' }, () => target.forceUnlock(), Boolean);
  } else {
    await visitLock(context, { key, kind: 'lock' }, target);
  }
};
