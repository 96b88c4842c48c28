/** Mutants that trust a server which does not know what was granted before. */
import type { Holdfast, Lock } from '../../src/index.ts';
import { inspectIdentity, lockAcquire } from '../../src/scripts/generated.ts';
import type { FaultProxy, TestServer } from '../../src/testing/index.ts';
import { startReplicas } from '../../tests/harness/replicas.ts';
import { startSentinels } from '../../tests/harness/sentinels.ts';
import { eventually } from '../../tests/harness/wait.ts';
import { type Interceptor, PatchedScript, patching, requestOf, runs } from './interceptor.ts';
import { type Mutant, mutant } from './mutant.ts';
import { at } from './retimed-hold.ts';
import { loadScripts, type Place, type Rig } from './rig.ts';
import { settleGuard } from './server-state.ts';
import { switchPrimary } from './switch-primary.ts';

const NAME = 'invoice:42';
const LOCK = { worker: 'w', key: NAME, kind: 'lock' } as const;

/** An address that stays while the server behind it changes. */
async function address(rig: Rig, first: Place): Promise<{ proxy: FaultProxy; lead(to: Place): void }> {
  const target = { host: first.host, port: first.port };
  const proxy = await rig.proxy(target);
  return {
    proxy,
    lead({ port }) {
      target.port = port;
      proxy.dropConnections();
    },
  };
}

const guardOff = mutant({
  name: 'guard-off',
  row: 23,
  wrong:
    'A promoted replica lets other owners in at once, though it may lack a lock that the old primary granted.',
  breaks: 'overlap',
  async play(rig) {
    const { binary } = rig;
    const group = rig.own(
      await startReplicas({ replicas: 1, proxied: true, ...(binary !== undefined && { binary }) }),
    );
    const [replica] = group.replicas;
    if (replica === undefined) throw new Error('There is no replica');
    await settleGuard(group.primary);
    await group.whenInSync();
    const { proxy, lead } = await address(rig, group.primary);
    const options = { watchdogMs: 10_000, guard: rig.isMutant ? false : { graceMs: 10_000 } };
    const lock = (await rig.client(proxy, { options })).getLock(NAME);
    const rivalLock = (await rig.client(proxy, { options })).getLock(NAME);
    const [holder, rival] = [rig.recorder('holder'), rig.recorder('rival')];

    replica.link.blackhole();
    const held = await holder.acquire(LOCK, () => lock.lock());
    await rig.fault(
      'primary-killed-before-replication',
      async () => {
        await group.primary.kill();
        await group.promote(0);
        lead(replica.server);
      },
      { removesHolds: true },
    );
    const theirs = await rival.acquire(LOCK, () => rivalLock.tryLock({ waitMs: 500 }));
    await theirs?.release(() => theirs.hold.unlock());
    await held?.release(() => held.hold.unlock());
  },
});

/** With this lease a server gets a second to answer. */
const RED_LEASE_MS = 20_000;
const AGED = 'aged';
const UPTIME = "string.match(text, 'uptime_in_seconds:(-?%d+)') or ''";

/** A server that has the key says that it has run for an hour: it need not grow old to vote. */
const agedIdentity = new PatchedScript(inspectIdentity, [
  UPTIME,
  `redis.call('EXISTS', '${AGED}') == 1 and '3600' or ${UPTIME}`,
]);

/** Believes what a server said of itself the first time, whatever process answers later. */
function identifiedOnce(): Interceptor {
  let identity: Promise<unknown> | undefined;
  return (command, send) => {
    if (!runs(command, inspectIdentity)) return send(command);
    identity ??= patching(agedIdentity)(command, send);
    return identity;
  };
}

interface Party {
  readonly lock: Lock;
  readonly proxies: readonly FaultProxy[];
}

/** A process with a client for each server. */
async function party(rig: Rig, places: readonly Place[], by: () => Interceptor): Promise<Party> {
  const proxies = await Promise.all(places.map((place) => rig.proxy(place)));
  const clients = await Promise.all(
    proxies.map((proxy) => rig.client(proxy, { by: by(), options: { watchdogMs: RED_LEASE_MS } })),
  );
  const [first] = clients as [Holdfast];
  const red = (name: string) => first.getRedLock(...clients.map((client) => client.getLock(name)));
  // Each server has told its identity once, as to a process that has run for a while.
  await red('meeting').withLock(() => undefined);
  return { lock: red(NAME), proxies };
}

const voteOfFormerProcess = mutant({
  name: 'vote-of-former-process',
  row: 31,
  wrong:
    'A red lock asks for the uptime of a server before the grant, so one that restarts empty in between counts.',
  breaks: 'overlap',
  async play(rig) {
    const servers = await Promise.all([rig.server(), rig.server(), rig.server()]);
    // It takes the first one's place, as that one would when it restarts without its data.
    const empty = await rig.server();
    for (const server of servers) await server.command('SET', AGED, '');
    const places = servers.map(({ host, port }) => ({ host, port }));
    const ours = await party(rig, places, () => patching(agedIdentity));
    const theirs = await party(rig, places, rig.isMutant ? identifiedOnce : () => patching(agedIdentity));
    const [holder, rival] = [rig.recorder('holder'), rig.recorder('rival')];

    // Our process has lost sight of the third server, and holds the lock on the others.
    await ours.proxies[2]?.refuse();
    const held = await holder.acquire(LOCK, () => ours.lock.lock());
    const late = theirs.proxies[0]?.holdRequest(requestOf(lockAcquire));
    const attempt = rival.acquire(LOCK, () => theirs.lock.tryLock());
    await late?.held;
    await rig.fault(
      'member-restarted-empty',
      async () => {
        Object.assign(places[0] as Place, { port: empty.port });
        await servers[0].kill();
      },
      { removesHolds: true },
    );
    late?.release();
    // Without a majority that could still come about, the call rejects.
    const intruder = await attempt.catch(() => null);
    await intruder?.release(() => intruder.hold.unlock());
    await ours.proxies[2]?.heal();
    await held?.release(() => held.hold.unlock());
  },
});

/** The Sentinels go on naming the server that they named first. */
function deafToSwitches(): Interceptor {
  let primary: Promise<unknown> | undefined;
  return (command, send) => {
    const isQuestion = /^sentinel$/i.test(command.name) && /addr/i.test(String(command.args[0]));
    if (!isQuestion) return send(command);
    primary ??= send(command);
    return primary;
  };
}

const staysWithOldPrimary = mutant({
  name: 'stays-with-old-primary',
  row: 40,
  wrong:
    'The client asks the Sentinels only when its connection breaks, and keeps locking on a primary that was replaced.',
  breaks: 'overlap',
  async play(rig) {
    const { binary } = rig;
    const watched = rig.own(await startSentinels({ sentinels: 1, ...(binary !== undefined && { binary }) }));
    await Promise.all(watched.servers.map(loadScripts));
    const target = { sentinels: watched.addresses, name: watched.name };
    const options = { commandTimeoutMs: 3_000 };
    const by = rig.isMutant ? deafToSwitches() : undefined;
    const lock = (await rig.client(target, { by, options })).getLock(NAME);
    const rivalLock = (await rig.client(target, { options })).getLock(NAME);
    const [caller, rival] = [rig.recorder('caller'), rig.recorder('rival')];
    await Promise.all([lock.isLocked(), rivalLock.isLocked()]);

    const promoted = await rig.fault('primary-switched', () => switchPrimary(watched), {
      removesHolds: true,
    });
    // Within a second every client has followed.
    await at(performance.now() + 1_000);
    const theirs = await rival.acquire(LOCK, () => rivalLock.tryLock());
    await assertHeldAt(promoted, theirs?.hold.owner);
    const held = await caller.acquire(LOCK, () => lock.tryLock());
    await held?.release(() => held.hold.unlock());
    await theirs?.release(() => theirs.hold.unlock());
  },
});

/** The scenario is about a rival that has followed. */
async function assertHeldAt(server: TestServer, owner = ''): Promise<void> {
  await eventually(async () => (await server.command('HEXISTS', NAME, owner)) === 1);
}

export const FAILOVER_MUTANTS: readonly Mutant[] = [guardOff, voteOfFormerProcess, staysWithOldPrimary];
