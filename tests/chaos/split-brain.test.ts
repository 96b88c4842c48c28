/**
 * A primary is cut off from its replica, which is promoted, and some clients are left with the one and some with the
 * other. Two things keep such a lock apart: a primary that refuses to write when it is alone
 * (`min-replicas-to-write`), and the guard. Each alone is not enough.
 */
import { describe, expect, it } from 'vitest';
import type { ClientOptions, Holdfast, Lock } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { ownReplicas } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { join } from './support/arena.ts';
import { assertDoubled, Duel } from './support/duel.ts';
import { address, GRACE_MS, GUARDED, settle, UNGUARDED_MODES } from './support/failover-stage.ts';

/** A waiter that no message reaches asks again after this at the latest. */
const POLL_MS = 6_000;
const TEST_MS = 60_000;

/** Long enough for two renewals, and much time left of the last one after a failover. */
const LEASE_MS = 9_000;

type Get = (client: Holdfast, name: string) => Lock;

interface Kind {
  readonly title: string;
  readonly get: Get;
  /** What the other one waits for, where that is another side. */
  readonly ask?: Get;
}

const writeSide: Get = (client, name) => client.getReadWriteLock(name).writeLock();

const KINDS: readonly Kind[] = [
  { title: 'getLock', get: (client, name) => client.getLock(name) },
  { title: 'getFencedLock', get: (client, name) => client.getFencedLock(name) },
  { title: 'getSimpleLock', get: (client, name) => client.getSimpleLock(name) },
  { title: 'the write side', get: writeSide },
  { title: 'the read side', get: (client, name) => client.getReadWriteLock(name).readLock(), ask: writeSide },
];

/** A primary with two replicas, an address of either half, and what separates them. */
async function stage() {
  const set = await ownReplicas({ replicas: 2, proxied: true });
  const [replica] = set.replicas;
  if (replica === undefined) throw new Error('there is no replica');
  await settle(set.primary);
  await whenAcknowledging(set.primary, 2);
  const [minority, majority] = [await address(set.primary), await address(set.primary)];
  return {
    primary: set.primary,
    replica: replica.server,
    /** For each kind, one who is left with the old primary holds the lock, and one who will not be waits for it. */
    async duels(options: ClientOptions, adapt: (get: Get) => Get = (get) => get): Promise<Duel[]> {
      const holder = await join('Holdfast.connect', minority.proxy, options);
      const waiter = await join('Holdfast.connect', majority.proxy, options);
      const duels: Duel[] = [];
      for (const { title, get, ask = get } of KINDS) {
        const sideOf: Get = (client, name) => (client === waiter ? ask : get)(client, name);
        const who = { title, name: randomName('split'), holder, waiter, get: adapt(sideOf) };
        duels.push(await Duel.begin(who, set.primary));
      }
      return duels;
    },
    whenInSync: () => set.whenInSync(),
    cut(): void {
      for (const { link } of set.replicas) link.blackhole();
    },
    /** The other replica follows the new primary, and acknowledges what that grants. */
    async promote(): Promise<void> {
      await set.promote(0, { repoint: true });
      await whenAcknowledging(replica.server, 1);
      majority.lead(replica.server);
    },
  };
}

async function refuseAlone(primary: TestServer): Promise<void> {
  await primary.command('CONFIG', 'SET', 'min-replicas-max-lag', 1);
  await primary.command('CONFIG', 'SET', 'min-replicas-to-write', 1);
}

async function whenRefusing(primary: TestServer): Promise<void> {
  await eventually(async () => {
    await expect(primary.command('SET', randomName('alone'), '', 'PX', 10)).rejects.toThrow(/^NOREPLICAS/);
  });
}

/** The same lock, whose holds have a lease of their own. */
function leased(leaseMs: number): (get: Get) => Get {
  return (get) => (client, name) => {
    const lock = get(client, name);
    return new Proxy(lock, {
      get: (target, property) =>
        property === 'lock' ? () => target.lock({ leaseMs }) : Reflect.get(target, property, target),
    });
  };
}

describeWithProcess('a primary is cut off and its replica promoted', () => {
  describe('the primary refuses to write when it is alone', () => {
    const refusing = async () => {
      const staged = await stage();
      await refuseAlone(staged.primary);
      return staged;
    };

    it(
      'with the guard, signals of holders at the old primary abort before another owner gets the lock',
      async () => {
        const staged = await refusing();
        staged.cut();
        const kept = await staged.duels(GUARDED);
        await whenRefusing(staged.primary);
        await staged.promote();
        for (const duel of kept) {
          await duel.finish(GRACE_MS + POLL_MS);
          expect(duel.hold.signal.reason, duel.title).toMatchObject({ code: 'ERR_LEASE_LOST' });
          expect(duel.violations(), duel.title).toEqual([]);
        }
      },
      TEST_MS,
    );

    it.each(UNGUARDED_MODES)(
      '$mode, without the guard: a hold that it renewed last is granted twice',
      async ({ options }) => {
        const staged = await stage();
        const duels = await staged.duels({ ...options, watchdogMs: LEASE_MS });
        await staged.whenInSync();
        staged.cut();
        // Within the lag that it is allowed, the primary gives leases that end later than those the replicas know of.
        const expiry = async (server: TestServer, name: string) =>
          Number(await server.command('PEXPIRETIME', name));
        for (const { name } of duels) {
          await eventually(
            async () => {
              const renewedByMs = (await expiry(staged.primary, name)) - (await expiry(staged.replica, name));
              expect(renewedByMs).toBeGreaterThan(LEASE_MS / 2);
            },
            { withinMs: LEASE_MS },
          );
        }
        await refuseAlone(staged.primary);
        await whenRefusing(staged.primary);
        await staged.promote();
        for (const duel of duels) await assertDoubled(duel, LEASE_MS + POLL_MS);
      },
      TEST_MS,
    );

    it(
      'with the guard, a holder does not rely on a lease longer than the grace either',
      async () => {
        const staged = await refusing();
        staged.cut();
        const kept = await staged.duels(GUARDED, leased(10 * GRACE_MS));
        await whenRefusing(staged.primary);
        await staged.promote();
        for (const duel of kept) {
          await duel.finish(GRACE_MS + POLL_MS);
          expect(duel.violations(), duel.title).toEqual([]);
        }
      },
      TEST_MS,
    );
  });

  describe('the primary keeps granting locks alone', () => {
    it(
      'with the guard, the lock is still granted twice',
      async () => {
        const staged = await stage();
        staged.cut();
        const duels = await staged.duels(GUARDED);
        await staged.promote();
        for (const duel of duels) {
          await assertDoubled(duel, GRACE_MS + POLL_MS);
          duel.hold.assertHeld();
        }
      },
      TEST_MS,
    );

    it.each(UNGUARDED_MODES)(
      '$mode, without the guard: the lock is granted twice',
      async ({ options }) => {
        const staged = await stage();
        const duels = await staged.duels({ ...options, watchdogMs: GRACE_MS });
        await staged.whenInSync();
        staged.cut();
        await staged.promote();
        for (const duel of duels) {
          await assertDoubled(duel, GRACE_MS + POLL_MS);
          duel.hold.assertHeld();
        }
      },
      TEST_MS,
    );
  });
});
