/**
 * Sentinels make another server the primary while locks are held and waited for: because they are told to, and
 * because the primary is dead. With the libraries' own settings and with ours, with the guard and without it.
 *
 * Told to, Sentinels promote the replica first and demote the old primary seconds later. Until then that one would
 * renew and grant what the new one does not know of, if clients went on asking it.
 */
import { describe, expect, it } from 'vitest';
import type { ClientOptions } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { cutReplication } from '../harness/cut-replication.ts';
import { randomName } from '../harness/names.ts';
import { switchPrimary } from '../harness/sentinel-switch.ts';
import type { TestSentinels } from '../harness/sentinels.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { ownSentinels } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { assertKept, Duel, type Duelists } from './support/duel.ts';
import { settle, take, UNGUARDED_MODES, whenHeardAt } from './support/failover-stage.ts';
import { joinSentinels } from './support/topology-ways.ts';
import { WAYS, type Way } from './support/ways.ts';

/** Longer than the old primary stays in office. */
const GRACE_MS = 8_000;
/** A waiter that no message reaches asks again after this at the latest. */
const POLL_MS = 6_000;
/** And after four seconds at the earliest. */
const SOONER_THAN_A_POLL_MS = 2_500;
const TEST_MS = 60_000;

/** Renewed so seldom that a holder does not learn of what happened before somebody else is in. */
const UNAWARE: ClientOptions = { watchdogMs: 30_000, commandTimeoutMs: 2_000, replicas: 0 };
const GUARDED: ClientOptions = { ...UNAWARE, watchdogMs: GRACE_MS, guard: { graceMs: GRACE_MS } };
/** Shorter than the old primary stays in office. */
const SHORT_MS = 1_500;

async function stage(replicas = 1): Promise<{ watched: TestSentinels; primary: TestServer }> {
  const watched = await ownSentinels({ replicas });
  const primary = await watched.primary();
  await settle(primary);
  await whenAcknowledging(primary, replicas);
  return { watched, primary };
}

/** For each way two clients and a lock. */
function pairs(
  watched: TestSentinels,
  options: ClientOptions,
  ways: readonly Way[] = WAYS,
): Promise<Duelists[]> {
  return Promise.all(
    ways.map(async (title) => {
      const client = () => joinSentinels(title, watched, options);
      return { title, name: randomName('watched'), holder: await client(), waiter: await client() };
    }),
  );
}

/** Where the client library makes no difference. */
const OURS: readonly Way[] = ['Holdfast.connect'];

const begin = (who: readonly Duelists[], primary: TestServer) =>
  Promise.all(who.map((one) => Duel.begin(one, primary)));

describeWithProcess('Sentinels make another server the primary', () => {
  describe('on request', () => {
    it(
      'replicated locks stay with their holders, in every mode, with the guard and without',
      async () => {
        const { watched, primary } = await stage();
        const plain = await pairs(watched, UNAWARE);
        const guarded = await pairs(watched, GUARDED);
        const acknowledged = [
          ...(await pairs(watched, { ...UNAWARE, replicas: 'auto' }, OURS)),
          ...(await pairs(watched, { ...UNAWARE, replicas: 1 }, OURS)),
        ];
        const free = await begin([...plain, ...acknowledged], primary);
        const kept = await begin(guarded, primary);
        await whenAcknowledging(primary, 1);
        await watched.failover();
        const next = await watched.whenSettled();
        await whenAcknowledging(next, 1);

        await Promise.all(free.map(({ name }) => whenHeardAt(next, name)));
        await Promise.all(free.map((duel) => assertKept(duel, SOONER_THAN_A_POLL_MS)));
        for (const duel of kept) await assertKept(duel, GRACE_MS + POLL_MS);
      },
      TEST_MS,
    );

    it(
      'a lease that ends before the old primary is demoted: without the guard, the promise is kept in every mode',
      async () => {
        const { watched, primary } = await stage(2);
        const short = UNGUARDED_MODES.map(({ options }) => ({ ...options, watchdogMs: SHORT_MS }));
        const holds = await Promise.all(
          short.map(async (options) => {
            const holder = await joinSentinels('default ioredis 6', watched, options);
            return { options, hold: await take(holder.getLock(randomName('watched'))) };
          }),
        );
        await whenAcknowledging(primary, 2);
        await switchPrimary(watched);

        // Whoever comes now is told of the new primary, and so was the holder, in time.
        await Promise.all(
          holds.map(async ({ options, hold }) => {
            const stranger = await joinSentinels('Holdfast.connect', watched, options);
            expect(await stranger.getLock(hold.name).tryLock({ waitMs: SHORT_MS * 2 })).toBeNull();
            hold.assertHeld();
          }),
        );
        expect(await primary.command('SET', randomName(), '', 'PX', 10)).toBe('OK');
        for (const { hold } of holds) expect(await hold.unlock()).toBe(true);
      },
      TEST_MS,
    );

    it(
      'a lease that ends before the old primary is demoted: with the guard, the promise is kept',
      async () => {
        const { watched } = await stage();
        const options = { ...GUARDED, watchdogMs: SHORT_MS };
        const holder = await joinSentinels('default ioredis 6', watched, options);
        const hold = await take(holder.getLock(randomName('watched')));
        await watched.failover();
        const stranger = await joinSentinels('Holdfast.connect', watched, options);
        const entering = stranger.getLock(hold.name).lock();
        const graceOver = new Promise((resolve) => setTimeout(resolve, GRACE_MS + 500));
        await watched.whenSettled();
        expect(await Promise.race([entering, graceOver])).toBeUndefined();
        hold.assertHeld();
        expect(await hold.unlock()).toBe(true);
        await (await entering).unlock();
      },
      TEST_MS,
    );
  });

  it(
    'the primary is killed before the lock was replicated: the holder learns of the loss without the guard, and keeps the lock with it',
    async () => {
      const { watched, primary } = await stage();
      const [plain, guarded] = [await pairs(watched, UNAWARE), await pairs(watched, GUARDED)];
      await cutReplication(primary);
      const free = await begin(plain, primary);
      const kept = await begin(guarded, primary);
      await primary.kill();

      for (const duel of free) {
        await duel.finish(GRACE_MS + POLL_MS);
        await eventually(() => duel.hold.signal.aborted, { withinMs: 1_000 });
      }
      for (const duel of kept) await assertKept(duel, GRACE_MS + POLL_MS);
    },
    TEST_MS,
  );
});
