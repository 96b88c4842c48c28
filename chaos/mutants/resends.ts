/** Mutants for which a request that is sent again, or arrives late, is another request. */
import type { Semaphore } from '../../src/index.ts';
import { lockForceRelease, semaphoreAddPermits, semaphoreRelease } from '../../src/scripts/generated.ts';
import type { Recorder } from '../../src/testing/history/recorder.ts';
import { eventually } from '../../tests/harness/wait.ts';
import { type Interceptor, PatchedScript, patching, requestOf, runs, unguarded } from './interceptor.ts';
import { type Mutant, mutant } from './mutant.ts';
import type { Rig } from './rig.ts';
import { forget, remembered, untilScriptRan } from './server-state.ts';

const NAME = 'invoice:42';
const LOCK = { worker: 'w', key: NAME, kind: 'lock' } as const;
const SEATS = { worker: 'w', key: 'seats', kind: 'semaphore' } as const;

function take(recorder: Recorder, seats: Semaphore): Promise<boolean> {
  return recorder.call('acquire', SEATS, () => seats.tryAcquire(), Boolean);
}

/** Callers come one after the other until there is no permit left, and give back what they got. */
async function takeAll(rig: Rig, seats: Semaphore, mostCallers: number): Promise<void> {
  const inside: Recorder[] = [];
  for (let caller = 1; caller <= mostCallers; caller += 1) {
    const recorder = rig.recorder(`caller-${caller}`);
    if (await take(recorder, seats)) inside.push(recorder);
  }
  for (const recorder of inside) await recorder.call('release', SEATS, () => seats.release());
}

function setSeats(recorder: Recorder, permits: number): void {
  recorder.record({ ...SEATS, op: 'set', type: 'info', permits });
}

const releaseWithoutMemory = new PatchedScript(semaphoreRelease, [
  'local before = recall(answer)',
  'local before',
]);

const noRequestMemory = mutant({
  name: 'no-request-memory',
  wrong:
    'The server does not remember which releases it has answered, so a repeated release returns a permit twice.',
  breaks: 'too-many-permits',
  async play(rig) {
    const server = await rig.server();
    const proxy = await rig.proxy(server);
    const by = rig.isMutant ? patching(releaseWithoutMemory) : undefined;
    const seats = (await rig.client(proxy, { by })).getSemaphore('seats');
    const user = rig.recorder('user');

    setSeats(user, 1);
    await seats.trySetPermits(1);
    await take(user, seats);
    const swallowed = proxy.swallowReply(releaseWithoutMemory.request);
    await user.call('release', SEATS, () => seats.release());
    await swallowed;
    await takeAll(rig, (await rig.client(server)).getSemaphore('seats'), 2);
  },
});

const forceOfAnyone = new PatchedScript(lockForceRelease, [
  "redis.call('HDEL', lock, holder)",
  "redis.call('DEL', lock)",
]);

const lateForce = mutant({
  name: 'late-force',
  row: 34,
  wrong:
    'A forced release ends the hold it finds when it arrives, not the hold that existed when it was requested.',
  breaks: 'overlap',
  async play(rig) {
    const server = await rig.server();
    const proxy = await rig.proxy(server);
    const by = rig.isMutant ? patching(forceOfAnyone) : undefined;
    const lock = (await rig.client(server)).getLock(NAME);
    const forcing = (await rig.client(proxy, { by })).getLock(NAME);
    const [first, operator] = [rig.recorder('first'), rig.recorder('operator')];
    const [second, third] = [rig.recorder('second'), rig.recorder('third')];

    const held = await first.acquire(LOCK, () => lock.lock());
    const copy = proxy.holdRequest(forceOfAnyone.request);
    const forced = operator.call('force', LOCK, () => forcing.forceUnlock());
    await copy.held;
    await held?.release(() => held.hold.unlock());
    // The client repeats the request on its next connection; the first copy is still on its way.
    proxy.dropConnections();
    await forced;
    const present = await second.acquire(LOCK, () => lock.lock());
    await forget(server, NAME);
    await untilScriptRan(server, () => copy.release());
    const intruder = await third.acquire(LOCK, () => lock.tryLock());
    await intruder?.release(() => intruder.hold.unlock());
    await present?.release(() => present.hold.unlock());
  },
});

/** Leaves it to the library to write a command again when its connection broke before the answer. */
function resending(script: { readonly sha1: string; readonly source: string }): Interceptor {
  return (command, send) => send(runs(command, script) ? unguarded(command) : command);
}

const resentAfterOutage = mutant({
  name: 'resent-after-outage',
  row: 35,
  wrong:
    "The client library resends a request after an outage that the server's memory of answers did not outlive.",
  breaks: 'too-many-permits',
  async play(rig) {
    const server = await rig.server();
    const proxy = await rig.proxy(server);
    const { client, redis } = await rig.open(proxy, {
      by: rig.isMutant ? resending(semaphoreAddPermits) : undefined,
      options: { commandTimeoutMs: 300 },
      isPatient: true,
    });
    const seats = client.getSemaphore('seats');

    setSeats(rig.recorder('user'), 2);
    const swallowed = proxy.swallowReply(requestOf(semaphoreAddPermits));
    const added = seats.addPermits(2).catch(() => undefined);
    await swallowed;
    await proxy.refuse();
    await added;
    await forget(server, 'seats');
    await proxy.heal();
    // Behind everything that the library has kept.
    await redis.ping();
    await takeAll(rig, seats, 3);
  },
});

const copyArrivesLater = mutant({
  name: 'copy-arrives-later',
  row: 36,
  wrong:
    'A call that the library resent counts as answered at once, so the server forgets it while a copy is on its way.',
  breaks: 'too-many-permits',
  async play(rig) {
    const server = await rig.server();
    const proxy = await rig.proxy(server);
    const by = rig.isMutant ? resending(semaphoreRelease) : undefined;
    const client = await rig.client(proxy, { by, options: { commandTimeoutMs: 500 } });
    const seats = client.getSemaphore('seats');
    const user = rig.recorder('user');

    setSeats(user, 1);
    await seats.trySetPermits(1);
    await take(user, seats);
    const copy = proxy.holdRequest(requestOf(semaphoreRelease));
    const released = user.call('release', SEATS, () => seats.release());
    await copy.held;
    proxy.dropConnections();
    await released;
    // When this one, which was answered at once, is forgotten, so is every other that counts as such.
    await client.getSemaphore('others').release();
    await eventually(async () => (await remembered(server, 'others')).length === 0);
    await untilScriptRan(server, () => copy.release());
    await takeAll(rig, seats, 2);
  },
});

/** Takes QUEUED for a refusal. */
const queuedIsRefused: Interceptor = async (command, send) => {
  const answer = await send(command);
  if (command.name === 'evalsha' && String(answer) === 'QUEUED') throw new Error('ERR not now');
  return answer;
};

const queuedInMulti = mutant({
  name: 'queued-in-multi',
  row: 39,
  wrong:
    "An acquisition that is queued in the user's MULTI counts as refused, and nothing undoes it after EXEC.",
  breaks: 'leak',
  async play(rig) {
    const server = await rig.server();
    const by = rig.isMutant ? queuedIsRefused : undefined;
    const { client, redis } = await rig.open(server, { by });
    const lock = client.getLock(NAME);
    const [user, witness] = [rig.recorder('user'), rig.recorder('witness')];
    await lock.isLocked();

    await redis.multi({ pipeline: false });
    // The caller is told that the lock was refused, or that this is not known.
    await user.acquire(LOCK, () => lock.tryLock()).catch(() => undefined);
    await redis.exec();
    await client.close();
    if ((await server.command('EXISTS', NAME)) === 1) {
      witness.record({ ...LOCK, op: 'left', type: 'info', what: 'a lock that no caller was granted' });
    }
  },
});

export const RESEND_MUTANTS: readonly Mutant[] = [
  noRequestMemory,
  lateForce,
  resentAfterOutage,
  copyArrivesLater,
  queuedInMulti,
];
