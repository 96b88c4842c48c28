/** Mutants that go by the wrong clock, or by the right one from the wrong moment. */
import { LeaseLostError } from '../../src/index.ts';
import { permitSemaphoreAcquire } from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { eventually } from '../../tests/harness/wait.ts';
import { bufferCommand, type Interceptor, PatchedScript, runs } from './interceptor.ts';
import { type Mutant, mutant } from './mutant.ts';
import { at, type PlainHold, retimed } from './retimed-hold.ts';
import type { Rig } from './rig.ts';
import { whenAborted } from './signals.ts';

const NAME = 'invoice:42';
const LOCK = { worker: 'w', key: NAME, kind: 'lock' } as const;

/** A client behind a proxy that can delay its commands, and a rival that reaches the server at once. */
async function slowAndRival(rig: Rig) {
  const server = await rig.server();
  const proxy = await rig.proxy(server);
  const slowLock = (await rig.client(proxy, { options: { commandTimeoutMs: 5_000 } })).getLock(NAME);
  const lock = (await rig.client(server)).getLock(NAME);
  await slowLock.isLocked();
  return { proxy, slowLock, lock, slow: rig.recorder('slow'), rival: rig.recorder('rival') };
}

const deadlineFromReply = mutant({
  name: 'deadline-from-reply',
  wrong:
    'The holder counts its lease from the reply, though the server counts from the moment the script ran.',
  breaks: 'overlap',
  async play(rig) {
    const leaseMs = 1_500;
    const { proxy, slowLock, lock, slow, rival } = await slowAndRival(rig);

    // When the reply arrives, little more than half of the lease is left on the server.
    proxy.delay(600);
    const held = await slow.acquire<PlainHold>({ ...LOCK, leaseMs }, async () => {
      const hold = await slowLock.lock({ leaseMs });
      const deadlineAt = performance.now() + leaseMs;
      return rig.isMutant
        ? retimed({ owner: hold.owner, unlock: () => hold.unlock() }, { deadlineAt, told: at(deadlineAt) })
        : hold;
    });
    proxy.delay(0);
    const theirs = await rival.acquire(LOCK, () => lock.lock());
    await theirs?.release(() => theirs.hold.unlock());
    await whenAborted(held?.hold.signal);
  },
});

/** Resolves when the server does not have the hold any more, which is asked now and then. */
async function whenGone(server: TestServer, owner: string): Promise<void> {
  await eventually(async () => (await server.command('HEXISTS', NAME, owner)) === 0, { everyMs: 400 });
}

const signalAtExpiry = mutant({
  name: 'signal-at-expiry',
  wrong: 'The holder learns of the loss when the lease has ended on the server, not before.',
  breaks: 'late-loss',
  bounds: { slackMs: 130 },
  async play(rig) {
    const leaseMs = 1_000;
    const server = await rig.server();
    const [holder, rival] = [rig.recorder('holder'), rig.recorder('rival')];
    const lock = (await rig.client(server)).getLock(NAME);
    const theirLock = (await rig.client(server)).getLock(NAME);

    const held = await holder.acquire<PlainHold>({ ...LOCK, leaseMs }, async () => {
      const hold = await lock.lock({ leaseMs });
      const deadlineAt = performance.now() + hold.remainingMs;
      const { owner } = hold;
      return rig.isMutant
        ? retimed({ owner, unlock: () => hold.unlock() }, { deadlineAt, told: whenGone(server, owner) })
        : hold;
    });
    const theirs = await rival.acquire(LOCK, () => theirLock.lock());
    await whenAborted(held?.hold.signal);
    await theirs?.release(() => theirs.hold.unlock());
  },
});

const lateGrant = mutant({
  name: 'late-grant-handed-out',
  row: 32,
  wrong:
    'A grant whose reply arrives after its deadline becomes a hold, and only its first renewal reports the loss.',
  breaks: 'late-loss',
  bounds: { slackMs: 130 },
  async play(rig) {
    const leaseMs = 900;
    const { proxy, slowLock, lock, slow, rival } = await slowAndRival(rig);

    const deadlineAt = performance.now() + leaseMs;
    // Executed at 500 ms, over at 1,400 ms, answered at 1,000 ms.
    proxy.delay(500);
    const taking = slow.acquire<PlainHold>({ ...LOCK, leaseMs }, () =>
      slowLock.lock({ leaseMs }).catch((error: unknown) => {
        if (!rig.isMutant || !(error instanceof LeaseLostError)) throw error;
        const renewedAt = performance.now() + leaseMs / 3;
        return retimed(
          { owner: error.owner, unlock: async () => false },
          { deadlineAt, told: at(renewedAt) },
        );
      }),
    );
    // Without the mutation the call rejects, which is recorded.
    const held = await taking.catch(() => null);
    proxy.delay(0);
    const theirs = await rival.acquire(LOCK, () => lock.lock());
    await whenAborted(held?.hold.signal);
    await theirs?.release(() => theirs.hold.unlock());
  },
});

const HOUR_MS = 3_600_000;

/** Puts the time of the caller's clock, which is an hour fast, where the script asks the server for its own. */
const byClientClock: Interceptor = (command, send) => {
  if (!runs(command, permitSemaphoreAcquire)) return send(command);
  const nowMs = Date.now() + HOUR_MS;
  const time = `{ '${Math.floor(nowMs / 1_000)}', '${(nowMs % 1_000) * 1_000}' }`;
  const { source } = new PatchedScript(permitSemaphoreAcquire, ["redis.call('TIME')", time]);
  return send(bufferCommand('eval', [source, ...command.args.slice(1)]));
};

const clientClockPermits = mutant({
  name: 'client-clock-permits',
  wrong:
    'Permits expire by the clock of the client that asks, so a client with a fast clock takes permits that others hold.',
  breaks: 'too-many-permits',
  async play(rig) {
    const server = await rig.server();
    const by = rig.isMutant ? byClientClock : undefined;
    const seats = (await rig.client(server)).getPermitExpirableSemaphore('seats');
    const fastSeats = (await rig.client(server, { by })).getPermitExpirableSemaphore('seats');
    const [holder, fast] = [rig.recorder('holder'), rig.recorder('fast')];
    const request = { worker: 'w', key: 'seats', kind: 'permit', leaseMs: 10_000 } as const;

    await seats.trySetPermits(1);
    holder.record({ worker: 'w', key: 'seats', kind: 'permit', op: 'set', type: 'info', permits: 1 });
    const held = await holder.acquire(request, () => seats.acquire({ leaseMs: 10_000 }));
    const taken = await fast.acquire(request, () => fastSeats.tryAcquire({ leaseMs: 10_000 }));
    await taken?.release(() => taken.hold.release());
    await held?.release(() => held.hold.release());
  },
});

export const TIMING_MUTANTS: readonly Mutant[] = [
  deadlineFromReply,
  signalAtExpiry,
  lateGrant,
  clientClockPermits,
];
