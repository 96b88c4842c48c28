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
import { whenAcknowledging } from './acknowledging.ts';
import { join } from './arena.ts';
import { assertDoubled, Duel } from './duel.ts';
import { address, GRACE_MS, GUARDED, settle } from './failover-stage.ts';

/** A waiter that no message reaches asks again after this at the latest. */
const POLL_MS = 6_000;
const TEST_MS = 60_000;

/** Renewed so seldom that a holder does not learn of what happened before somebody else is in. */
const UNAWARE: ClientOptions = { ...GUARDED, guard: false, watchdogMs: 30_000 };

type Get = (client: Holdfast, name: string) => Lock;

const KINDS: Record<string, Get> = {
  getLock: (client, name) => client.getLock(name),
  getFencedLock: (client, name) => client.getFencedLock(name),
  getSimpleLock: (client, name) => client.getSimpleLock(name),
  'the write side': (client, name) => client.getReadWriteLock(name).writeLock(),
};

/** A primary with one replica, an address of either half, and what separates them. */
async function stage() {
  const set = await ownReplicas({ replicas: 1, proxied: true });
  const [replica] = set.replicas;
  if (replica === undefined) throw new Error('there is no replica');
  await settle(set.primary);
  await whenAcknowledging(set.primary, 1);
  const [minority, majority] = [await address(set.primary), await address(set.primary)];
  return {
    primary: set.primary,
    replica: replica.server,
    /** For each kind, one who is left with the old primary holds the lock, and one who will not be waits for it. */
    async duels(options: ClientOptions, adapt: (get: Get) => Get = (get) => get): Promise<Duel[]> {
      const holder = await join('Holdfast.connect', minority.proxy, options);
      const waiter = await join('Holdfast.connect', majority.proxy, options);
      const duels: Duel[] = [];
      for (const [title, get] of Object.entries(KINDS)) {
        const who = { title, name: randomName('split'), holder, waiter, get: adapt(get) };
        duels.push(await Duel.begin(who, set.primary));
      }
      return duels;
    },
    cut: () => replica.link.blackhole(),
    async promote(): Promise<void> {
      await replica.server.command('REPLICAOF', 'NO', 'ONE');
      majority.lead(replica.server);
    },
  };
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
      await staged.primary.command('CONFIG', 'SET', 'min-replicas-max-lag', 1);
      await staged.primary.command('CONFIG', 'SET', 'min-replicas-to-write', 1);
      return staged;
    };

    it(
      'with the guard, whoever is left there is told before anybody else is in; without it, is not',
      async () => {
        const staged = await refusing();
        staged.cut();
        const [kept, doubled] = [await staged.duels(GUARDED), await staged.duels(UNAWARE)];
        await whenRefusing(staged.primary);
        await staged.promote();

        for (const duel of doubled) await assertDoubled(duel, POLL_MS);
        for (const duel of kept) {
          await duel.finish(GRACE_MS + POLL_MS);
          expect(duel.hold.signal.reason, duel.title).toMatchObject({ code: 'ERR_LEASE_LOST' });
          expect(duel.violations(), duel.title).toEqual([]);
        }
      },
      TEST_MS,
    );

    it(
      'with the guard, a lease that is longer than the grace is not relied on either',
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

  it(
    'the primary goes on alone: granted twice, with the guard and without',
    async () => {
      const staged = await stage();
      staged.cut();
      const [guarded, plain] = [await staged.duels(GUARDED), await staged.duels(UNAWARE)];
      await staged.promote();
      for (const duel of plain) await assertDoubled(duel, POLL_MS);
      for (const duel of guarded) {
        await assertDoubled(duel, GRACE_MS + POLL_MS);
        duel.hold.assertHeld();
      }
    },
    TEST_MS,
  );
});
