/**
 * A lock that one task of a process handed to the next, without a word to the server: what happens to it then happens
 * to who has it now, and to nobody who had it before. Processes that die or freeze are in `process.test.ts`, those who
 * wait for it in `passed-waiters.test.ts`.
 */
import { describe, expect, it } from 'vitest';
import { ClosedError, NotHeldError } from '../../src/index.ts';
import { LABEL, randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { aborted, arena, expiryOf, join, listenTo, past, scriptCalls } from './support/arena.ts';
import { PASSED_ON } from './support/kinds.ts';
import { passedOn, UNHURRIED } from './support/passed-on.ts';
import { expectNothingLeft, setUp } from './support/passed-stage.ts';

describeWithProcess('a lock that was passed on', () => {
  describe.each(PASSED_ON)('$title', (kind) => {
    it('has cost the server nothing, and belongs to its new holder alone', async () => {
      const { server, client, name } = await setUp();
      const lock = kind.get(client, name);
      const [first, second] = [lock.lock(), lock.lock()];
      const former = await first;
      const calls = await scriptCalls(server);
      expect(await former.unlock()).toBe(true);
      const hold = await second;
      expect(await scriptCalls(server)).toBe(calls);
      expect(await kind.holderOn(server, name)).toBe(hold.owner);
      hold.assertHeld();
      expect(hold.remainingMs).toBeGreaterThan(0);
      expect(() => former.assertHeld()).toThrow(NotHeldError);
      expect(former.remainingMs).toBe(0);
      await expect(former.extend(1_000)).rejects.toThrow(NotHeldError);
      // Given back once, it cannot be given back again in the name of who has it now.
      expect(await former.unlock()).toBe(true);
      expect(await scriptCalls(server)).toBe(calls);
      expect(await kind.holderOn(server, name)).toBe(hold.owner);
      expect(await lock.tryLock()).toBeNull();
      expect(await hold.unlock()).toBe(true);
      expect(await hold.unlock()).toBe(true);
      await expectNothingLeft(server, name);
    });

    it("and whose server is silent: only the present holder's signal aborts, before the lease can end", async () => {
      const { server, proxy } = await arena();
      const options = { watchdogMs: 2_000, commandTimeoutMs: 300, passOn: UNHURRIED };
      const client = await join('Holdfast.connect', proxy, options);
      const { lost } = listenTo(client);
      const name = randomName();
      const { former, hold } = await passedOn(kind.get(client, name));
      const told = aborted(hold.signal);
      const expiresAt = await expiryOf(server, name);
      proxy.blackhole();
      const { value, atWallMs } = await told;
      expect(value).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'unreachable' });
      expect(atWallMs).toBeLessThan(expiresAt);
      expect(() => hold.assertHeld()).toThrow('no renewal reached the server in time');
      expect(former.signal.aborted).toBe(false);
      expect(await hold.unlock()).toBe(false);
      expect(lost).toEqual([
        { kind: kind.kind, name, owner: hold.owner, label: LABEL, reason: 'unreachable' },
      ]);
      await proxy.heal();
    });

    it('and is deleted: the signal aborts at the next renewal', async () => {
      const { server, client, name } = await setUp({ watchdogMs: 900 });
      const { lost } = listenTo(client);
      const { former, hold } = await passedOn(kind.get(client, name));
      await server.command('DEL', name);
      const { value } = await aborted(hold.signal);
      expect(value).toMatchObject({ reason: 'notOwner' });
      expect(former.signal.aborted).toBe(false);
      expect(await hold.unlock()).toBe(false);
      expect(lost).toEqual([{ kind: kind.kind, name, owner: hold.owner, label: LABEL, reason: 'notOwner' }]);
    });

    it('and is deleted, then passed on: the loss shows at the final release, and the next owner gets a new grant', async () => {
      const { server, client, name } = await setUp({ passOn: { ...UNHURRIED, maxHolds: 3 } });
      const { lost } = listenTo(client);
      const lock = kind.get(client, name);
      const { hold, behind } = await passedOn(lock, { behind: 2 });
      await server.command('DEL', name);
      const [third, fourth] = behind;
      expect(await hold.unlock()).toBe(true);
      const last = await third;
      expect(last?.owner).toBe(hold.owner);
      expect(lost).toEqual([]);
      expect(await last?.unlock()).toBe(false);
      expect(lost).toEqual([{ kind: kind.kind, name, owner: hold.owner, label: LABEL, reason: 'notOwner' }]);
      const fresh = await fourth;
      expect(fresh?.owner).not.toBe(hold.owner);
      expect(await kind.holderOn(server, name)).toBe(fresh?.owner);
      expect(await fresh?.unlock()).toBe(true);
      await expectNothingLeft(server, name);
    });

    it('and forced by its own client: the signal aborts at once, and the waiter gets a new grant', async () => {
      const { server, client, name } = await setUp();
      const { lost } = listenTo(client);
      const lock = kind.get(client, name);
      const { former, hold, behind } = await passedOn(lock, { behind: 1 });
      expect(await lock.forceUnlock()).toBe(true);
      expect(hold.signal.reason).toMatchObject({ reason: 'forced' });
      expect(former.signal.aborted).toBe(false);
      expect(lost).toEqual([{ kind: kind.kind, name, owner: hold.owner, label: LABEL, reason: 'forced' }]);
      const fresh = await behind[0];
      expect(fresh?.owner).not.toBe(hold.owner);
      expect(await hold.unlock()).toBe(false);
      expect(await kind.holderOn(server, name)).toBe(fresh?.owner);
      expect(await fresh?.unlock()).toBe(true);
      await expectNothingLeft(server, name);
    });

    it('and forced by another client: the loss shows at the final release, which frees no other hold', async () => {
      const { server, client, name } = await setUp();
      const { lost } = listenTo(client);
      const { hold } = await passedOn(kind.get(client, name));
      const rival = kind.get(await join('Holdfast.connect', server), name);
      expect(await rival.forceUnlock()).toBe(true);
      const theirs = await rival.lock();
      expect(await hold.unlock()).toBe(false);
      expect(lost).toEqual([{ kind: kind.kind, name, owner: hold.owner, label: LABEL, reason: 'notOwner' }]);
      theirs.assertHeld();
      expect(await kind.holderOn(server, name)).toBe(theirs.owner);
      expect(await theirs.unlock()).toBe(true);
    });

    it('and its client closes: the signal aborts, the lock is released, and no waiter gets it', async () => {
      const { server, client, name } = await setUp();
      const lock = kind.get(client, name);
      const { former, hold, behind } = await passedOn(lock, { behind: 1 });
      const turnedAway = behind.map((waiting) => waiting.catch((error: unknown) => error));
      const { signal } = hold;
      const closing = client.close();
      expect(signal.reason).toMatchObject({ reason: 'closed' });
      expect(await hold.unlock()).toBe(false);
      await closing;
      expect(former.signal.aborted).toBe(false);
      expect(await Promise.all(turnedAway)).toEqual([expect.any(ClosedError)]);
      await expectNothingLeft(server, name);
    });

    it('and is extended: the server has the longer lease, and the lock is not passed on with it', async () => {
      const { server, client, name } = await setUp({ watchdogMs: 5_000 });
      const lock = kind.get(client, name);
      const { hold, behind } = await passedOn(lock, { behind: 1 });
      await hold.extend(60_000);
      expect(await server.command('PTTL', name)).toBeGreaterThan(50_000);
      expect(hold.remainingMs).toBeGreaterThan(50_000);
      expect(await hold.unlock()).toBe(true);
      const next = await behind[0];
      expect(next?.owner).not.toBe(hold.owner);
      expect(await server.command('PTTL', name)).toBeLessThan(6_000);
      expect(await next?.unlock()).toBe(true);
    });

    it('obeys the maxHoldMs of its present holder, not of a former one', async () => {
      const { server, client, name } = await setUp();
      const lock = kind.get(client, name);
      const { hold } = await passedOn(lock, { first: { maxHoldMs: 300 } });
      await past(performance.now() + 350);
      hold.assertHeld();
      expect(await hold.unlock()).toBe(true);
      const { former, hold: limited } = await passedOn(lock, { second: { maxHoldMs: 100 } });
      const { value } = await aborted(limited.signal);
      expect(value).toMatchObject({ reason: 'maxHold' });
      expect([hold.signal.aborted, former.signal.aborted]).toEqual([false, false]);
      await expectNothingLeft(server, name);
    });

    it('is not a lock that was granted at the second attempt', async () => {
      const { server, proxy } = await arena();
      const client = await join('default ioredis 6', proxy, { passOn: UNHURRIED });
      const name = randomName();
      const lock = kind.get(client, name);
      const swallowed = proxy.swallowReply(kind.requests.acquire);
      const [first, second] = [lock.lock(), lock.lock()];
      await swallowed;
      const former = await first;
      expect(await former.unlock()).toBe(true);
      const hold = await second;
      expect(hold.owner).not.toBe(former.owner);
      expect(await kind.holderOn(server, name)).toBe(hold.owner);
      expect(await hold.unlock()).toBe(true);
      await expectNothingLeft(server, name);
    });
  });
});
