/**
 * What the red lock promises while its servers are well: a majority decides, each server is asked at once, and
 * nothing is left behind. What becomes of it when servers fail is in `tests/chaos/red-lock.test.ts`.
 */
import { describe, expect, it } from 'vitest';
import {
  AcquireTimeoutError,
  ClosedError,
  type Holdfast,
  LeaseLostError,
  type Lock,
  NotHeldError,
  OptionError,
  QuorumError,
  ReentryError,
} from '../../src/index.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough } from './support/context.ts';
import { Room, rejection, timed, whenAborted } from './support/moments.ts';
import { LEASE_MS, serversForAll, whereHeld } from './support/red-lock-servers.ts';

type KindOf = (client: Holdfast, name: string) => Lock;
const plain: KindOf = (client, name) => client.getLock(name);
const simple: KindOf = (client, name) => client.getSimpleLock(name);

/** A process: a client for each server. */
class Party {
  readonly clients: readonly Holdfast[];

  constructor(clients: readonly Holdfast[]) {
    this.clients = clients;
  }

  static async of(context: Context, servers: readonly TestServer[]): Promise<Party> {
    return new Party(
      await Promise.all(servers.map((server) => context.client({ watchdogMs: LEASE_MS }, server))),
    );
  }

  get first(): Holdfast {
    return this.clients[0] as Holdfast;
  }

  members(name: string, kindOf: KindOf = plain): Lock[] {
    return this.clients.map((client) => kindOf(client, name));
  }

  lock(name: string, kindOf: KindOf = plain): Lock {
    return this.first.getRedLock(...this.members(name, kindOf));
  }
}

function describeRedLock(context: Context): void {
  describeWithProcess('over three servers', () => {
    const servers = serversForAll(3, context.topology);
    describeVotes(context, servers);
    describeHold(context, servers);
    describeReentry(context, servers);
    describeRefusals(context, servers);
  });
}

function describeVotes(context: Context, servers: readonly TestServer[]): void {
  describe('votes', () => {
    it.each([
      ['getLock', plain],
      ['getSimpleLock', simple],
    ])('of all: taken on every server, freed on every server, with %s', async (_, kindOf) => {
      const lock = (await Party.of(context, servers)).lock(randomName(), kindOf);
      const hold = await lock.lock();
      await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([0, 1, 2]));
      expect(hold.name).toBe(lock.name);
      hold.assertHeld();
      expect(await hold.unlock()).toBe(true);
      await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([]));
      expect(() => hold.assertHeld()).toThrow(NotHeldError);
      expect(hold.signal.aborted).toBe(false);
    });

    it('of a majority are enough: a server that granted another owner does not matter', async () => {
      const [party, others] = [await Party.of(context, servers), await Party.of(context, servers)];
      for (const [place, client] of others.clients.entries()) {
        const lock = party.lock(randomName());
        const theirs = await client.getLock(lock.name).lock();
        const hold = await lock.lock();
        expect(hold.owner.split(' ')).toHaveLength(2);
        expect(hold.owner).not.toContain(theirs.owner);
        hold.assertHeld();
        expect(await hold.unlock()).toBe(true);
        await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([place]));
        await theirs.unlock();
      }
    });

    it('of a minority are not enough: null, and AcquireTimeoutError with the holder', async () => {
      const [party, others] = [await Party.of(context, servers), await Party.of(context, servers)];
      const lock = party.lock(randomName());
      const theirs = await others.lock(lock.name).lock();
      expect(await lock.tryLock()).toBeNull();
      const { result, tookMs } = await timed(() => lock.tryLock({ waitMs: 300 }));
      expect(result).toBeNull();
      expect(tookMs).toBeGreaterThanOrEqual(299);
      const error = await rejection(lock.withLock(() => 'never', { waitMs: 50 }));
      expect(error).toBeInstanceOf(AcquireTimeoutError);
      expect(theirs.owner).toContain((error as AcquireTimeoutError).holder);
      expect(await theirs.unlock()).toBe(true);
      await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([]));
    });

    it('are requested again until there is a majority', async () => {
      const [party, others] = [await Party.of(context, servers), await Party.of(context, servers)];
      const lock = party.lock(randomName());
      const theirs = await others.lock(lock.name).lock();
      const waiting = lock.lock();
      expect(await lock.tryLock()).toBeNull();
      await theirs.unlock();
      const { result, tookMs } = await timed(() => waiting);
      expect(tookMs).toBeLessThan(3_000);
      expect(await result.unlock()).toBe(true);
    });

    it('admit one holder at a time, among many callers', async () => {
      const parties = await Promise.all([1, 2, 3].map(() => Party.of(context, servers)));
      const name = randomName();
      const room = new Room();
      const visits = parties.flatMap((party) =>
        [1, 2].map(() => party.lock(name).withLock(() => room.visit('in'))),
      );
      await Promise.all(visits);
      expect(room.visitors).toHaveLength(6);
      expect(room.most).toBe(1);
    });

    it('are released when the caller aborts, also those in flight', async () => {
      const [party, others] = [await Party.of(context, servers), await Party.of(context, servers)];
      const lock = party.lock(randomName());
      for (let round = 0; round < 6; round += 1) {
        const controller = new AbortController();
        const refused = rejection(lock.lock({ signal: controller.signal }));
        if (round % 2 === 1) await Promise.resolve();
        controller.abort(round);
        expect(await refused).toBe(round);
        expect(await rejection(lock.lock({ signal: controller.signal }))).toBe(round);
      }
      await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([]));
      await using _theirs = await others.lock(lock.name).lock();
      const controller = new AbortController();
      const waiting = rejection(lock.lock({ signal: controller.signal }));
      expect(await lock.tryLock()).toBeNull();
      controller.abort('enough');
      expect(await waiting).toBe('enough');
    });
  });
}

function describeHold(context: Context, servers: readonly TestServer[]): void {
  describe('a hold', () => {
    it('is valid for the lease, less the time it took and the drift of clocks', async () => {
      const lock = (await Party.of(context, servers)).lock(randomName());
      const hold = await lock.lock({ leaseMs: LEASE_MS });
      // 1 % drift, 2 ms rounding, 5 % notice.
      expect(hold.remainingMs).toBeLessThanOrEqual(LEASE_MS * 0.99 - 2 - LEASE_MS * 0.05);
      expect(hold.remainingMs).toBeGreaterThan(LEASE_MS / 2);
      expect(await hold.unlock()).toBe(true);
      expect(hold.remainingMs).toBe(0);
    });

    it('is renewed by its members, and lost when it has no majority left', async () => {
      const lock = (await Party.of(context, servers)).lock(randomName());
      const hold = await lock.lock();
      await eventually(() => hold.owner.split(' ').length === 3);
      await servers[0]?.command('DEL', lock.name);
      const from = performance.now();
      await eventually(() => performance.now() - from > LEASE_MS, { withinMs: 2 * LEASE_MS });
      hold.assertHeld();
      expect(hold.signal.aborted).toBe(false);
      expect(await whereHeld(servers, lock)).toEqual([1, 2]);
      await servers[1]?.command('DEL', lock.name);
      const reason = await whenAborted(hold.signal);
      expect(reason).toBeInstanceOf(LeaseLostError);
      expect(reason).toMatchObject({ lockName: lock.name, reason: 'notOwner', owner: hold.owner });
      expect(() => hold.assertHeld()).toThrow(LeaseLostError);
      expect(await hold.unlock()).toBe(false);
      await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([]));
    });

    it('is extended by a majority, and lost without one', async () => {
      const lock = (await Party.of(context, servers)).lock(randomName());
      const hold = await lock.lock({ leaseMs: LEASE_MS });
      await eventually(() => hold.owner.split(' ').length === 3);
      await servers[2]?.command('DEL', lock.name);
      await hold.extend(60_000);
      expect(hold.remainingMs).toBeGreaterThan(50_000);
      await servers[0]?.command('DEL', lock.name);
      expect(await rejection(hold.extend(70_000))).toBeInstanceOf(LeaseLostError);
      expect(hold.signal.aborted).toBe(true);
      expect(await hold.unlock()).toBe(false);
    });

    it('that is lost while the work runs makes withLock reject', async () => {
      const lock = (await Party.of(context, servers)).lock(randomName());
      const failed = rejection(
        lock.withLock(async (hold) => {
          for (const server of servers.slice(1)) await server.command('DEL', lock.name);
          await whenAborted(hold.signal);
          return 'done';
        }),
      );
      expect(await failed).toMatchObject({ code: 'ERR_LEASE_LOST', lockName: lock.name });
      await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([]));
    });

    it('ends after maxHoldMs on every server', async () => {
      const lock = (await Party.of(context, servers)).lock(randomName());
      const hold = await lock.lock({ maxHoldMs: 300 });
      expect(await whenAborted(hold.signal)).toMatchObject({ reason: 'maxHold', lockName: lock.name });
      await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([]));
      expect(await hold.unlock()).toBe(false);
    });

    it('is visible to isLocked() and isHeld()', async () => {
      const [party, others] = [await Party.of(context, servers), await Party.of(context, servers)];
      const lock = party.lock(randomName());
      expect(await lock.isLocked()).toBe(false);
      expect(await lock.getRemainingMs()).toBeNull();
      const owner = party.first.owner();
      const hold = await lock.lock({ owner, leaseMs: LEASE_MS });
      const looking = others.lock(lock.name);
      expect(await looking.isLocked()).toBe(true);
      expect(await looking.getRemainingMs()).toBeGreaterThan(0);
      expect(await looking.getRemainingMs()).toBeLessThanOrEqual(LEASE_MS);
      expect(await lock.isHeld({ owner })).toBe(true);
      expect(await looking.isHeld({ owner: others.first.owner() })).toBe(false);
      expect(await looking.forceUnlock()).toBe(true);
      expect(await looking.isLocked()).toBe(false);
      expect(await hold.unlock()).toBe(false);
    });
  });
}

function describeReentry(context: Context, servers: readonly TestServer[]): void {
  describe('entering again', () => {
    const counts = (name: string) =>
      Promise.all(
        servers.map(async (server) => Number(((await server.command('HVALS', name)) as string[])[0] ?? 0)),
      );

    it('inside withLock and as an owner, on every server', async () => {
      const party = await Party.of(context, servers);
      const lock = party.lock(randomName());
      await lock.withLock(async () => {
        await eventually(async () => expect(await counts(lock.name)).toEqual([1, 1, 1]));
        await lock.withLock(async () => {
          await eventually(async () => expect(await counts(lock.name)).toEqual([2, 2, 2]));
          expect(await lock.getHoldCount()).toBe(2);
        });
      });
      await eventually(async () => expect(await counts(lock.name)).toEqual([0, 0, 0]));
      const owner = party.first.owner();
      await lock.lock({ owner });
      await eventually(async () => expect(await counts(lock.name)).toEqual([1, 1, 1]));
      await lock.lock({ owner });
      await eventually(async () => expect(await counts(lock.name)).toEqual([2, 2, 2]));
      await lock.unlock({ owner });
      await lock.unlock({ owner });
      expect(await counts(lock.name)).toEqual([0, 0, 0]);
      expect(await rejection(lock.unlock({ owner }))).toBeInstanceOf(NotHeldError);
    });

    it('concurrent sections take turns, in whatever order they list the members', async () => {
      const party = await Party.of(context, servers);
      const name = randomName();
      const reversed = party.first.getRedLock(...party.members(name).reverse());
      const room = new Room();
      const stay = () => new Promise<void>((resolve) => setImmediate(resolve));
      await party
        .lock(name)
        .withLock(() =>
          Promise.all([
            party.lock(name).withLock(() => room.visit('one', stay)),
            reversed.withLock(() => room.visit('two', stay)),
            party.lock(name).withLock(() => room.visit('three', stay)),
          ]),
        );
      expect(room.visitors).toHaveLength(3);
      expect(room.most).toBe(1);
    });

    it('while its clients drain, which wait for the section', async () => {
      const party = await Party.of(context, servers);
      const lock = party.lock(randomName());
      let closing: Promise<unknown> | undefined;
      await lock.withLock(async (hold) => {
        await eventually(async () => expect(await counts(lock.name)).toEqual([1, 1, 1]));
        closing = Promise.all(party.clients.map((client) => client.close({ drainMs: 60_000 })));
        await lock.withLock(async () => {
          await eventually(async () => expect(await counts(lock.name)).toEqual([2, 2, 2]));
        });
        expect(await rejection(party.lock(randomName()).lock())).toBeInstanceOf(ClosedError);
        hold.assertHeld();
      });
      await closing;
      expect(await counts(lock.name)).toEqual([0, 0, 0]);
    });

    it('throws where the members are not reentrant', async () => {
      const party = await Party.of(context, servers);
      const lock = party.lock(randomName(), (client, name) => client.getNonReentrantLock(name));
      await lock.withLock(async (hold) => {
        expect(await rejection(lock.lock())).toBeInstanceOf(ReentryError);
        hold.assertHeld();
      });
    });
  });
}

function describeRefusals(context: Context, servers: readonly TestServer[]): void {
  describe('is refused', () => {
    it('two members of one client, an empty list, and a member that is not a lock', async () => {
      const { first } = await Party.of(context, servers);
      const lock = first.getLock(randomName());
      expect(() => first.getRedLock(lock, first.getLock(randomName()))).toThrow(OptionError);
      expect(() => first.getRedLock()).toThrow(OptionError);
      expect(() => first.getRedLock(first.getRedLock(lock))).toThrow(OptionError);
    });

    it('one server listed twice under different names, which keeps no lock', async () => {
      const [server, other] = servers as [TestServer, TestServer];
      const { clients } = await Party.of(context, [server, server, other]);
      const [one, two, three] = clients as [Holdfast, Holdfast, Holdfast];
      const name = randomName();
      const same = one.getRedLock(one.getLock(name), two.getLock(name), three.getLock(name));
      expect(await rejection(same.tryLock())).toBeInstanceOf(OptionError);
      expect(await rejection(same.lock())).toBeInstanceOf(OptionError);
      const different = one.getRedLock(
        one.getLock(`${name}:1`),
        two.getLock(`${name}:2`),
        three.getLock(name),
      );
      expect(await rejection(different.withLock(() => 'never'))).toBeInstanceOf(OptionError);
      for (const left of [name, `${name}:1`, `${name}:2`]) {
        await eventually(async () => expect(await server.command('EXISTS', left)).toBe(0));
        await eventually(async () => expect(await other.command('EXISTS', left)).toBe(0));
      }
    });

    it("a request that a majority of the servers refuses, at once and with each server's answer", async () => {
      const lock = (await Party.of(context, servers)).lock(randomName());
      for (const server of servers.slice(1)) await server.command('RPUSH', lock.name, 'not a lock');
      const error = await rejection(lock.lock());
      expect(error).toBeInstanceOf(QuorumError);
      const { outcomes } = error as QuorumError;
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['held', 'failed', 'failed']);
      for (const { server } of outcomes) expect(server).toMatch(/^member \d, run id [0-9a-f]{40}$/);
      expect(String(outcomes[1]?.error)).toContain('not a lock');
      expect(await servers[1]?.command('LRANGE', lock.name, 0, -1)).toEqual(['not a lock']);
      await eventually(async () => expect(await servers[0]?.command('EXISTS', lock.name)).toBe(0));
      for (const server of servers) await server.command('DEL', lock.name);
    });

    it('a majority of closed clients; a minority of them is tolerated', async () => {
      const party = await Party.of(context, servers);
      const lock = party.lock(randomName());
      await party.first.close();
      expect(await lock.withLock(({ owner }) => owner.split(' ').length)).toBe(2);
      const hold = await lock.lock();
      await party.clients[1]?.close();
      expect(await whenAborted(hold.signal)).toMatchObject({ reason: 'closed' });
      expect(await rejection(lock.lock())).toBeInstanceOf(ClosedError);
      expect(await rejection(lock.withLock(() => 'never'))).toBeInstanceOf(ClosedError);
      await eventually(async () => expect(await whereHeld(servers, lock)).toEqual([]), {
        withinMs: 2 * LEASE_MS,
      });
    });
  });
}

describeThrough('red lock', describeRedLock);
