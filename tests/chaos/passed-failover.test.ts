/** The primary dies while a lock is held that one task of a process handed to the next. */
import { expect, it } from 'vitest';
import type { Hold, Holdfast } from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { switchPrimary } from '../harness/sentinel-switch.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { ownSentinels } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { whenAcknowledging } from './support/acknowledging.ts';
import { aborted, listenTo } from './support/arena.ts';
import { GRACE_MS, GUARDED, settle, stage, UNGUARDED } from './support/failover-stage.ts';
import { type Kind, PASSED_ON } from './support/kinds.ts';
import { type Passed, passedOn, UNHURRIED } from './support/passed-on.ts';
import { joinSentinels } from './support/topology-ways.ts';

const PASSING = { passOn: UNHURRIED };
/** Renewed soon after the switch, and by then still held. */
const WATCHDOG_MS = 4_500;

interface Case extends Passed {
  readonly kind: Kind;
  readonly name: string;
}

/** A lock of every kind that is passed on, each with one task that waits behind its holder. */
function passAll(client: Holdfast): Promise<Case[]> {
  const cases = PASSED_ON.map(async (kind) => {
    const name = randomName(kind.title);
    return { kind, name, ...(await passedOn(kind.get(client, name), { behind: 1 })) };
  });
  return Promise.all(cases);
}

/** The first who waits behind the holder. */
async function nextOf({ behind }: Case): Promise<Hold> {
  const [next] = behind;
  if (next === undefined) throw new Error('nobody waits');
  return next;
}

/** Every holder keeps its lock there, renewed, and then the next waiter gets it. */
async function expectKept(cases: readonly Case[], promoted: TestServer): Promise<void> {
  for (const each of cases) {
    const { kind, name, hold } = each;
    const endsAt = () => performance.now() + hold.remainingMs;
    const before = endsAt();
    await eventually(() => expect(endsAt(), 'was not renewed').toBeGreaterThan(before + 1));
    expect(await kind.holderOn(promoted, name)).toBe(hold.owner);
    expect(await hold.unlock()).toBe(true);
    // Handed on, or taken from the server by a waiter whose attempt was under way when the primary died.
    const next = await nextOf(each);
    expect(await kind.holderOn(promoted, name)).toBe(next.owner);
    expect(await next.unlock()).toBe(true);
    expect(await kind.holderOn(promoted, name)).toBeNull();
  }
}

describeWithProcess('the primary dies in a passed tenure', () => {
  it('whose lock was replicated: the holder keeps it, and then the next waiter gets it', async () => {
    const staged = await stage();
    await staged.whenInSync();
    const client = await staged.client({ ...UNGUARDED, ...PASSING });
    const { lost } = listenTo(client);
    const cases = await passAll(client);
    await staged.whenInSync();
    await staged.failOver();
    await expectKept(cases, staged.promoted);
    expect(lost).toEqual([]);
  });

  it("whose lock was not replicated: without the guard, only the present holder's signal aborts", async () => {
    const staged = await stage();
    await staged.whenInSync();
    const client = await staged.client({ ...UNGUARDED, ...PASSING });
    const { lost } = listenTo(client);
    staged.cutReplication();
    const cases = await passAll(client);
    const told = cases.map(({ hold }) => aborted(hold.signal));
    await staged.failOver();
    for (const [at, each] of cases.entries()) {
      expect((await told[at])?.value).toMatchObject({ reason: 'notOwner' });
      expect(each.former.signal.aborted).toBe(false);
      expect(await each.hold.unlock()).toBe(false);
      const next = await nextOf(each);
      expect(next.owner).not.toBe(each.hold.owner);
      expect(await next.unlock()).toBe(true);
    }
    expect(lost.map(({ owner }) => owner).sort()).toEqual(cases.map(({ hold }) => hold.owner).sort());
  });

  it('whose lock was not replicated: with the guard the holder reclaims it, and does not pass it on within the grace', async () => {
    const staged = await stage();
    await staged.whenInSync();
    const client = await staged.client({ ...GUARDED, ...PASSING });
    const { lost } = listenTo(client);
    staged.cutReplication();
    const cases = await passAll(client);
    await staged.failOver();
    const failedOverAt = performance.now();
    const stranger = await staged.client({ ...GUARDED, ...PASSING });
    for (const each of cases) {
      const { kind, name, hold, former } = each;
      await eventually(async () => expect(await kind.holderOn(staged.promoted, name)).toBe(hold.owner));
      hold.assertHeld();
      expect(await kind.get(stranger, name).tryLock()).toBeNull();
      expect(await hold.unlock()).toBe(true);
      expect(former.signal.aborted).toBe(false);
    }
    for (const each of cases) {
      const next = await nextOf(each);
      expect(performance.now() - failedOverAt).toBeGreaterThan(GRACE_MS - 500);
      expect(next.owner, each.kind.title).not.toBe(each.hold.owner);
      expect(await next.unlock()).toBe(true);
    }
    expect(lost).toEqual([]);
  });
});

describeWithProcess('Sentinels switch to another primary in a passed tenure', () => {
  it('the holder keeps the lock there while the old primary takes writes, and then the next waiter gets it', async () => {
    const watched = await ownSentinels({ replicas: 1 });
    const primary = await watched.primary();
    await settle(primary);
    await whenAcknowledging(primary, 1);
    const client = await joinSentinels('Holdfast.connect', watched, {
      ...UNGUARDED,
      ...PASSING,
      watchdogMs: WATCHDOG_MS,
    });
    const { lost } = listenTo(client);
    const cases = await passAll(client);
    await whenAcknowledging(primary, 1);
    const { promoted } = await switchPrimary(watched);
    const leaseEndsAt = Date.now() + WATCHDOG_MS;
    for (const { name } of cases) {
      await eventually(async () => {
        expect(await promoted.command('PEXPIRETIME', name)).toBeGreaterThanOrEqual(leaseEndsAt);
      });
    }
    await expectKept(cases, promoted);
    expect(await primary.command('SET', randomName(), '', 'PX', 10)).toBe('OK');
    expect(lost).toEqual([]);
  }, 60_000);
});
