/** Mutants that leave their waiters asleep, or let them in out of turn. */
import type { Holdfast } from '../../src/index.ts';
import {
  fairLockAcquire,
  fairLockGuardedAcquire,
  fairLockRelease,
  lockAcquire,
} from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { eventually } from '../../tests/harness/wait.ts';
import { type Interceptor, PatchedScript, patching, requestOf, runs } from './interceptor.ts';
import { type Mutant, mutant } from './mutant.ts';
import { at } from './retimed-hold.ts';
import type { Rig } from './rig.ts';
import { beginGrace, queueOf, settleGuard, whenHeard, whenQueued } from './server-state.ts';

const NAME = 'invoice:42';
const LOCK = { worker: 'w', key: NAME, kind: 'lock' } as const;
const FAIR = { worker: 'w', key: NAME, kind: 'fair' } as const;

/** Shorter than a poll, after which every waiter looks by itself. */
const WAIT_MS = 2_500;
const TAKEOVER = { takeoverMs: 600 };
/** A waiter that is stalled for less still gets in within that bound. */
const SHORT_STALL_MS = 300;
const SUBSCRIPTION = /^SUBSCRIBE /;

/** After that subscription was acknowledged the client does not ask again: the last answer from before stands. */
function blindAfterSubscription(nth: number): Interceptor {
  let acknowledged = 0;
  let isBlind = false;
  let known: unknown;
  return async (command, send) => {
    if (command.name === 'subscribe') {
      const answer = await send(command);
      acknowledged += 1;
      isBlind = acknowledged === nth;
      return answer;
    }
    if (!runs(command, lockAcquire)) return send(command);
    if (!isBlind) known = await send(command);
    isBlind = false;
    return known;
  };
}

/** The holder releases while the subscription of the waiter is on its way; `before` leads up to that subscription. */
async function releaseInTheGap(
  rig: Rig,
  nth: number,
  before: (server: TestServer, pass: () => Promise<void>) => Promise<void>,
): Promise<void> {
  rig.shortStallMs = SHORT_STALL_MS;
  const server = await rig.server();
  const proxy = await rig.proxy(server);
  const by = rig.isMutant ? blindAfterSubscription(nth) : undefined;
  const lock = (await rig.client(server)).getLock(NAME);
  const waiterLock = (await rig.client(proxy, { by })).getLock(NAME);
  const [holder, waiter] = [rig.recorder('holder'), rig.recorder('waiter')];

  const held = await holder.acquire(LOCK, () => lock.lock());
  let subscription = proxy.holdRequest(SUBSCRIPTION);
  const waiting = waiter.acquire(LOCK, () => waiterLock.tryLock({ waitMs: WAIT_MS }));
  await subscription.held;
  await before(server, async () => {
    const look = proxy.holdRequest(requestOf(lockAcquire));
    subscription.release();
    await look.held;
    subscription = proxy.holdRequest(SUBSCRIPTION);
    look.release();
  });
  await subscription.held;
  await held?.release(() => held.hold.unlock());
  subscription.release();
  const entered = await waiting;
  await entered?.release(() => entered.hold.unlock());
}

const tryThenSubscribe = mutant({
  name: 'try-then-subscribe',
  wrong:
    'The waiter attempts, subscribes and sleeps: it misses a release that happens before its subscription.',
  breaks: 'left-behind',
  bounds: TAKEOVER,
  play: (rig) => releaseInTheGap(rig, 1, async () => {}),
});

const noLookAfterResubscription = mutant({
  name: 'no-look-after-resubscription',
  wrong:
    'After a broken connection the waiter subscribes again and keeps sleeping: it misses a release in between.',
  breaks: 'left-behind',
  bounds: TAKEOVER,
  play: (rig) =>
    releaseInTheGap(rig, 2, async (server, pass) => {
      await pass();
      await whenHeard(server, NAME);
      await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
    }),
});

/** Waiters poll every 0.1 s. */
const FAIR_OPTIONS = { commandTimeoutMs: 600, fairWaitMs: 300, watchdogMs: 500 };
/** For how long such a waiter may go unheard before it counts as dead. */
const SILENT_MS = 840;

const DROPS_DEAD = 'while head and head ~= acquiring do';
const keepsDeadHeads = [fairLockAcquire, fairLockRelease].map(
  (script) => new PatchedScript(script, [DROPS_DEAD, 'while false do']),
);

const deadHeadStays = mutant({
  name: 'dead-head-stays',
  wrong:
    'A waiter that dies at the head of a fair queue keeps its place, and the waiters behind it never get the lock.',
  breaks: 'left-behind',
  bounds: { takeoverMs: 800, silentMs: 1_000 },
  async play(rig) {
    rig.shortStallMs = SHORT_STALL_MS;
    const server = await rig.server();
    const proxy = await rig.proxy(server);
    const settings = { by: rig.isMutant ? patching(...keepsDeadHeads) : undefined, options: FAIR_OPTIONS };
    const lock = (await rig.client(server, settings)).getFairLock(NAME);
    const dyingLock = (await rig.client(proxy, settings)).getFairLock(NAME);
    const [holder, dying, waiter] = [rig.recorder('holder'), rig.recorder('dying'), rig.recorder('waiter')];

    const held = await holder.acquire(FAIR, () => lock.lock());
    const inVain = dying.acquire(FAIR, () => dyingLock.lock());
    inVain.catch(() => undefined);
    await whenQueued(server, NAME, 1);
    const waiting = waiter.acquire(FAIR, () => lock.tryLock({ waitMs: 3_500 }));
    await whenQueued(server, NAME, 2);
    await rig.kill('dying', proxy);
    await held?.release(() => held.hold.unlock());
    const entered = await waiting;
    await entered?.release(() => entered.hold.unlock());
  },
});

const GRACE_MS = 1_600;
const GUARDED = { ...FAIR_OPTIONS, watchdogMs: GRACE_MS, guard: { graceMs: GRACE_MS } };

const unheardInGrace = [
  new PatchedScript(fairLockGuardedAcquire, [
    'local turn = takeTurn(',
    "if keptOutMs > 0 then return { 'grace', keptOutMs, server } end\nlocal turn = takeTurn(",
  ]),
  new PatchedScript(fairLockRelease, ['spareUntil = now + silentMs', '']),
];

/** Reports the first answer of an acquisition that no grace has kept out. */
function reporting(by: Interceptor | undefined, onAnswer: () => void): Interceptor {
  return async (command, send) => {
    const answer = await (by?.(command, send) ?? send(command));
    if (runs(command, fairLockGuardedAcquire) && String((answer as unknown[])[0]) !== 'grace') onAnswer();
    return answer;
  };
}

const orderLostInGrace = mutant({
  name: 'order-lost-in-grace',
  row: 37,
  wrong:
    'Fair waiters cannot report while a grace keeps them out, so the first one to withdraw removes the others as dead.',
  breaks: 'out-of-order',
  async play(rig) {
    // A waiter that is silent for less keeps its place.
    rig.shortStallMs = SILENT_MS / 2;
    const server = await rig.server();
    await settleGuard(server);
    const by = rig.isMutant ? patching(...unheardInGrace) : undefined;
    const proxy = await rig.proxy(server);
    const client = (place = server as { host: string; port: number }, through = by): Promise<Holdfast> =>
      rig.client(place, { by: through, options: GUARDED });
    let answered = () => {};
    const [holderClient, first, second] = [
      await client(),
      await client(proxy),
      await client(
        server,
        reporting(by, () => answered()),
      ),
    ];
    const join = (proc: string, from: Holdfast, signal?: AbortSignal) =>
      rig.recorder(proc).acquire(FAIR, () => from.getFairLock(NAME).lock({ signal }));

    const held = await join('holder', holderClient);
    const waiting = [join('first', first)];
    await whenQueued(server, NAME, 1);
    waiting.push(join('second', second));
    await whenQueued(server, NAME, 2);
    const giveUp = new AbortController();
    const leaving = join('third', holderClient, giveUp.signal);
    const queue = await whenQueued(server, NAME, 3);
    rig.recorder('witness').record({ ...FAIR, op: 'queue', type: 'info', queue });

    const endsAt = await beginGrace(server);
    const silentAt = performance.now() + 1.2 * SILENT_MS;
    await held?.release(() => held.hold.unlock());
    await at(silentAt);
    giveUp.abort();
    await leaving.catch(() => undefined);
    await eventually(async () => !(await queueOf(server, NAME)).includes(queue[2] ?? ''));

    // The first waiter's next word is late; the second one's turn comes only if its place is forgotten by then.
    await at(endsAt - 150);
    const late = proxy.holdRequest(requestOf(fairLockGuardedAcquire, ...unheardInGrace));
    const heard = new Promise<void>((resolve) => {
      answered = resolve;
    });
    await late.held;
    await Promise.race([heard, waiting[1]]);
    late.release();
    await Promise.all(
      waiting.map(async (entering) => {
        const entered = await entering;
        await entered?.release(() => entered.hold.unlock());
      }),
    );
  },
});

export const WAITING_MUTANTS: readonly Mutant[] = [
  tryThenSubscribe,
  noLookAfterResubscription,
  deadHeadStays,
  orderLostInGrace,
];
