/** Mutants whose scripts are wrong: they free, count or date what is not theirs, or not at once. */
import { lockAcquire, lockEnd, lockEnter, lockLeave } from '../../src/scripts/generated.ts';
import { eventually } from '../../tests/harness/wait.ts';
import { bufferCommand, type Interceptor, PatchedScript, patching, runs } from './interceptor.ts';
import { type Mutant, mutant } from './mutant.ts';
import { whenEnded } from './server-state.ts';
import { whenAborted } from './signals.ts';

const NAME = 'invoice:42';
const LOCK = { worker: 'w', key: NAME, kind: 'lock' } as const;

const releaseOfAnyone = new PatchedScript(lockEnd, [
  "redis.pcall('HDEL', lock, owner) == 1",
  "redis.call('DEL', lock) == 1",
]);

const unlockWithoutOwnerCheck = mutant({
  name: 'unlock-without-owner-check',
  wrong: 'The release script deletes the lock without checking its owner.',
  breaks: 'overlap',
  async play(rig) {
    const server = await rig.server();
    const by = rig.isMutant ? patching(releaseOfAnyone) : undefined;
    const [late, present, next] = [rig.recorder('late'), rig.recorder('present'), rig.recorder('next')];
    const lateLock = (await rig.client(server, { by })).getLock(NAME);
    const lock = (await rig.client(server)).getLock(NAME);

    const old = await late.acquire({ ...LOCK, leaseMs: 300 }, () => lateLock.lock({ leaseMs: 300 }));
    await whenAborted(old?.hold.signal);
    const second = await present.acquire(LOCK, () => lock.lock());
    await old?.release(() => old.hold.unlock());
    // A hold that is lost is released in the background.
    await whenEnded(server, NAME, old?.hold.owner ?? '');
    const third = await next.acquire(LOCK, () => lock.tryLock());
    await third?.release(() => third.hold.unlock());
    await second?.release(() => second.hold.unlock());
  },
});

const relativeEnter = new PatchedScript(lockEnter, [
  "redis.call('HSET', lock, owner, count)",
  "redis.call('HINCRBY', lock, owner, 1)",
]);
const relativeLeave = new PatchedScript(lockLeave, [
  "redis.pcall('HSET', lock, owner, count)",
  "if redis.call('HINCRBY', lock, owner, -1) <= 0 then redis.call('DEL', lock) end",
]);

const relativeCounts = mutant({
  name: 'relative-counts',
  wrong:
    'Entering adds one to the hold count and leaving subtracts one, so a leave that is delivered twice counts twice.',
  breaks: 'overlap',
  async play(rig) {
    const server = await rig.server();
    const proxy = await rig.proxy(server);
    const by = rig.isMutant ? patching(relativeEnter, relativeLeave) : undefined;
    const client = await rig.client(proxy, { by });
    const rival = (await rig.client(server)).getLock(NAME);
    const [holder, stranger] = [rig.recorder('holder'), rig.recorder('stranger')];
    const lock = client.getLock(NAME);
    const owner = client.owner();

    const request = { ...LOCK, party: 'owner' };
    const outer = await holder.acquire(request, () => lock.lock({ owner }));
    const inner = await holder.acquire(request, () => lock.lock({ owner }));
    const swallowed = proxy.swallowReply(relativeLeave.request);
    await inner?.release(() => inner.hold.unlock());
    await swallowed;
    const second = await stranger.acquire(LOCK, () => rival.tryLock());
    await second?.release(() => second.hold.unlock());
    await outer?.release(() => outer.hold.unlock());
  },
});

const acquireWithoutLease = new PatchedScript(lockAcquire, ['  firstLease(lock, leaseMs)\n', '']);

/** Sends the expiry once the lock is known to be taken. */
const leaseAfterwards: Interceptor = async (command, send) => {
  const answer = await patching(acquireWithoutLease)(command, send);
  if (!runs(command, lockAcquire)) return answer;
  const [, , key, , , leaseMs] = command.args;
  await send(bufferCommand('pexpire', [key, leaseMs]));
  return answer;
};

const leaseInSecondCommand = mutant({
  name: 'lease-in-second-command',
  wrong:
    'The lock gets its expiry by a second command, which a client that dies between the two never sends.',
  breaks: 'leak',
  async play(rig) {
    const server = await rig.server();
    const proxy = await rig.proxy(server);
    const by = rig.isMutant ? leaseAfterwards : undefined;
    const lock = (await rig.client(proxy, { by, options: { commandTimeoutMs: 300 } })).getLock(NAME);
    const [holder, witness] = [rig.recorder('holder'), rig.recorder('witness')];

    const swallowed = proxy.swallowReply(acquireWithoutLease.request, { after: 'silence' });
    const taking = holder.acquire({ ...LOCK, leaseMs: 300 }, () => lock.lock({ leaseMs: 300 }));
    taking.catch(() => undefined);
    await swallowed;
    await rig.kill('holder', proxy);
    const ttlMs = await eventually(async () => {
      const leftMs = Number(await server.command('PTTL', NAME));
      return leftMs < 0 && leftMs;
    });
    if (ttlMs === -1) {
      witness.record({ worker: 'w', key: NAME, op: 'left', type: 'info', what: 'a lock without an expiry' });
    }
  },
});

export const SCRIPT_MUTANTS: readonly Mutant[] = [
  unlockWithoutOwnerCheck,
  relativeCounts,
  leaseInSecondCommand,
];
