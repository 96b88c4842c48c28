/**
 * Sentinels make another server the primary while locks are held and waited for: because they are told to, and
 * because the primary is dead. With the libraries' own settings and with ours, with the guard and without it.
 *
 * Told to, Sentinels promote the replica first and demote the old primary seconds later, which until then renews
 * and grants what the new one does not know of.
 */
import { describe, expect, it } from 'vitest';
import type { ClientOptions } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import type { TestSentinels } from '../harness/sentinels.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { ownSentinels } from '../harness/topologies.ts';
import { cutReplication } from './cut-replication.ts';
import { assertDoubled, assertKept, Duel, type Duelists } from './duel.ts';
import { settle, take } from './failover-stage.ts';
import { joinSentinels } from './topology-ways.ts';
import { WAYS } from './ways.ts';

/** Longer than the old primary stays in office. */
const GRACE_MS = 8_000;
/** A waiter that no message reaches asks again after this at the latest. */
const POLL_MS = 6_000;
const TEST_MS = 60_000;

/** Renewed so seldom that a holder does not learn of what happened before somebody else is in. */
const UNAWARE: ClientOptions = { watchdogMs: 30_000, commandTimeoutMs: 2_000, replicas: 0 };
const GUARDED: ClientOptions = { ...UNAWARE, watchdogMs: GRACE_MS, guard: { graceMs: GRACE_MS } };
/** Shorter than the old primary stays in office. */
const SHORT: ClientOptions = { ...UNAWARE, watchdogMs: 1_500 };

async function stage(): Promise<{ watched: TestSentinels; primary: TestServer }> {
  const watched = await ownSentinels({ replicas: 1 });
  const primary = await watched.primary();
  await settle(primary);
  return { watched, primary };
}

/** For each way two clients and a lock. */
function pairs(watched: TestSentinels, options: ClientOptions): Promise<Duelists[]> {
  return Promise.all(
    WAYS.map(async (title) => {
      const client = () => joinSentinels(title, watched, options);
      return { title, name: randomName('watched'), holder: await client(), waiter: await client() };
    }),
  );
}

const begin = (who: readonly Duelists[], primary: TestServer) =>
  Promise.all(who.map((one) => Duel.begin(one, primary)));

describeWithProcess('Sentinels make another server the primary', () => {
  describe('on request', () => {
    it(
      'what was replicated stays with its holder, with the guard and without',
      async () => {
        const { watched, primary } = await stage();
        const [plain, guarded] = [await pairs(watched, UNAWARE), await pairs(watched, GUARDED)];
        const free = await begin(plain, primary);
        const kept = await begin(guarded, primary);
        await watched.failover();
        await watched.whenSettled();
        for (const duel of free) await assertKept(duel, POLL_MS);
        for (const duel of kept) await assertKept(duel, GRACE_MS + POLL_MS);
      },
      TEST_MS,
    );

    it(
      'a lease that ends before the old primary is demoted: granted twice without the guard, kept with it',
      async () => {
        const { watched } = await stage();
        const [plain, guarded] = [SHORT, { ...SHORT, guard: { graceMs: GRACE_MS } }];
        const names = [randomName('watched'), randomName('watched')] as const;
        const holder = await joinSentinels('default ioredis 6', watched, plain);
        const guardedHolder = await joinSentinels('default ioredis 6', watched, guarded);
        const hold = await take(holder.getLock(names[0]));
        const kept = await take(guardedHolder.getLock(names[1]));
        await watched.failover();

        // Who comes now is told of the new primary; who has been there is still renewed by the old one.
        const stranger = await joinSentinels('Holdfast.connect', watched, plain);
        const second = await stranger.getLock(names[0]).lock();
        hold.assertHeld();
        second.assertHeld();

        const late = await joinSentinels('Holdfast.connect', watched, guarded);
        const entering = late.getLock(names[1]).lock();
        const graceOver = new Promise((resolve) => setTimeout(resolve, GRACE_MS + 500));
        await watched.whenSettled();
        expect(await Promise.race([entering, graceOver])).toBeUndefined();
        kept.assertHeld();
        expect(await kept.unlock()).toBe(true);
        await (await entering).unlock();
      },
      TEST_MS,
    );
  });

  it(
    'the primary is killed before the lock was replicated: granted twice without the guard, kept with it',
    async () => {
      const { watched, primary } = await stage();
      const [plain, guarded] = [await pairs(watched, UNAWARE), await pairs(watched, GUARDED)];
      await cutReplication(primary);
      const free = await begin(plain, primary);
      const kept = await begin(guarded, primary);
      await primary.kill();

      for (const duel of free) await assertDoubled(duel, GRACE_MS + POLL_MS);
      for (const duel of kept) await assertKept(duel, GRACE_MS + POLL_MS);
    },
    TEST_MS,
  );
});
