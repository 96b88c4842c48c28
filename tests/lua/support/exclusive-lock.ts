/**
 * The scripts of a lock that one owner holds, called by name, and what they do alike whatever the layout of the lock:
 * the reentrant lock is a hash, the simple lock a string.
 */
import { describe, expect, it } from 'vitest';
import type {
  lockAcquire,
  lockDescribe,
  lockEnd,
  lockForceRelease,
  lockHolder,
  lockRelease,
  lockRenew,
} from '../../../src/scripts/generated.ts';
import type { RawArgument } from '../../../src/testing/index.ts';
import { describeWithProcess, openRaw, ownServer } from '../../harness/servers.ts';
import { openMute } from './mute-user.ts';
import { expectRunning, heardOn, type ScriptBench } from './script-bench.ts';

interface ExclusiveScripts {
  readonly acquire: typeof lockAcquire;
  readonly end: typeof lockEnd;
  readonly release: typeof lockRelease;
  readonly forceRelease: typeof lockForceRelease;
  readonly renew: typeof lockRenew;
  readonly holder: typeof lockHolder;
  readonly describe: typeof lockDescribe;
}

export const channelOf = (name: string) => `redisson_lock__channel:{${name}}`;
export const endedOf = (name: string, owner: string) => `redisson_unlock_latch:{${name}}:${owner}`;

/** The scripts as functions of a name and an owner. */
export function exclusiveCalls(bench: ScriptBench, scripts: ExclusiveScripts) {
  const wake = (name: string) => ({ publish: 'PUBLISH', channel: channelOf(name) });
  return {
    acquire(name: string, owner: string, leaseMs = 60_000, connection = bench.connection) {
      const keys = { lock: name, ended: endedOf(name, owner) };
      return bench.run(scripts.acquire, keys, { owner, leaseMs }, connection);
    },
    /** With a tombstone. */
    release(name: string, owner: string, connection = bench.connection) {
      const keys = { lock: name, ended: endedOf(name, owner) };
      return bench.run(scripts.end, keys, { owner, ...wake(name), rememberMs: 30_000 }, connection);
    },
    releasePlainly(name: string, owner: string) {
      return bench.run(scripts.release, { lock: name }, { owner, ...wake(name) });
    },
    forceRelease(name: string, holder: string, request: string, connection = bench.connection) {
      const keys = { lock: name, answer: endedOf(name, request) };
      return bench.run(scripts.forceRelease, keys, { holder, ...wake(name), rememberMs: 30_000 }, connection);
    },
    renew(locks: string[], leaseMs: number, owners: string[], connection = bench.connection) {
      return bench.run(scripts.renew, { locks }, { leaseMs, owners }, connection);
    },
    holderOf: (lock: string) => bench.run(scripts.holder, { lock }, {}),
    describeLock: (lock: string) => bench.run(scripts.describe, { lock }, {}),
  };
}

interface Layout {
  /** The folder of the scripts. */
  readonly folder: string;
  readonly calls: ReturnType<typeof exclusiveCalls>;
  /** What the server has of a lock, read by hand; and what it should have of one hold. */
  stored(name: string): Promise<unknown>;
  holding(owner: string): unknown;
  /** A key of another type: how it is written, how it is read, and what is read. */
  readonly otherTypes: readonly {
    readonly type: string;
    readonly write: readonly [command: string, ...values: RawArgument[]];
    readonly read: readonly [command: string, ...range: RawArgument[]];
    readonly data: unknown;
  }[];
}

export function describeExclusiveLock(
  bench: ScriptBench,
  { folder, calls, stored, holding, otherTypes }: Layout,
): void {
  const { acquire, release, releasePlainly, forceRelease, renew, describeLock } = calls;

  describe(`${folder}/acquire`, () => {
    it('delivered twice, makes one hold and never shortens the lease', async () => {
      const name = bench.name();
      await acquire(name, 'c:1', 60_000);
      expect(await acquire(name, 'c:1', 10_000)).toEqual({ status: 'held' });
      expect(await stored(name)).toEqual(holding('c:1'));
      expectRunning(await bench.pttl(name), 60_000);
      expect(await acquire(name, 'c:1', 200_000)).toEqual({ status: 'held' });
      expectRunning(await bench.pttl(name), 200_000);
    });
  });

  describe(`${folder}/end`, () => {
    it('removes the lock and announces it with 0, once, however often it is delivered', async () => {
      const name = bench.name();
      const heard = await bench.listenTo(channelOf(name));
      await acquire(name, 'c:1');
      expect(await release(name, 'c:1')).toEqual({ status: 'released', heardBy: 1 });
      expect(await bench.exists(name)).toBe(false);
      expect(await release(name, 'c:1')).toEqual({ status: 'released', heardBy: 0 });
      expect(await release(name, 'c:1')).toEqual({ status: 'released', heardBy: 0 });
      expect(await heard()).toEqual(['0']);
      expect(await bench.command('GET', endedOf(name, 'c:1'))).toBe('released');
      expectRunning(await bench.pttl(endedOf(name, 'c:1')), 30_000);
    });
  });

  describe(`${folder}/release`, () => {
    it('answers lost, announces nothing and does not change a key of another owner', async () => {
      const [name, other] = [bench.name(), bench.name()];
      await acquire(name, 'c:2');
      const heard = await bench.listenTo(channelOf(name));
      expect(await releasePlainly(name, 'c:1')).toEqual({ status: 'lost' });
      expect(await releasePlainly(bench.name(), 'c:1')).toEqual({ status: 'lost' });
      expect(await stored(name)).toEqual(holding('c:2'));
      for (const { write, read, data } of otherTypes) {
        await bench.command('DEL', other);
        await bench.plant(write[0], other, ...write.slice(1));
        expect(await releasePlainly(other, 'c:1')).toEqual({ status: 'lost' });
        expect(await bench.command(read[0], other, ...read.slice(1))).toEqual(data);
      }
      expect(await heard()).toEqual([]);
    });
  });

  describe(`${folder}/force-release`, () => {
    it('does not change other holds, and announces nothing', async () => {
      const name = bench.name();
      await acquire(name, 'c:2');
      const heard = await bench.listenTo(channelOf(name));
      expect(await forceRelease(name, 'c:1', 'r:1')).toEqual({ status: 'ended', announced: 1 });
      expect(await stored(name)).toEqual(holding('c:2'));
      expect(await heard()).toEqual([]);
    });

    it.each(['ended', 'found gone'])(
      'repeated, does not end the next hold of an owner that it %s',
      async (how) => {
        const name = bench.name();
        if (how === 'ended') await acquire(name, 'java:7');
        await forceRelease(name, 'java:7', 'r:1');
        await acquire(name, 'java:7');
        expect(await forceRelease(name, 'java:7', 'r:1')).toEqual({ status: 'ended', announced: 1 });
        expect(await stored(name)).toEqual(holding('java:7'));
        expectRunning(await bench.pttl(endedOf(name, 'r:1')), 30_000);
        await forceRelease(name, 'java:7', 'r:2');
        expect(await bench.exists(name)).toBe(false);
      },
    );
  });

  describe(`${folder}/describe`, () => {
    it('names the holder and the rest of its lease', async () => {
      const name = bench.name();
      expect(await describeLock(name)).toEqual({ status: 'free' });
      await acquire(name, 'c:1', 60_000);
      const reply = await describeLock(name);
      expect(reply).toEqual({ status: 'locked', remainingMs: expect.any(Number), holder: 'c:1' });
      if (reply.status === 'locked') expectRunning(reply.remainingMs, 60_000);
    });
  });

  describe('a key of another type', () => {
    it.each(otherTypes.map((other) => [other.type, other] as const))(
      '%s: is refused with WRONGTYPE and left as it was',
      async (_type, { write, read, data }) => {
        const name = bench.name();
        await bench.plant(write[0], name, ...write.slice(1));
        await expect(acquire(name, 'c:1')).rejects.toThrow(/WRONGTYPE /);
        await expect(forceRelease(name, 'c:1', 'r:1')).rejects.toThrow(/WRONGTYPE /);
        await expect(describeLock(name)).rejects.toThrow(/WRONGTYPE /);
        expect(await bench.exists(endedOf(name, 'c:1'))).toBe(false);
        expect(await bench.exists(endedOf(name, 'r:1'))).toBe(false);
        expect(await release(name, 'c:1')).toEqual({ status: 'lost' });
        expect(await bench.command(read[0], name, ...read.slice(1))).toEqual(data);
        expect(await bench.pttl(name)).toBe(-1);
      },
    );
  });

  describe('a lease', () => {
    it('the longest there is can be taken', async () => {
      const name = bench.name();
      expect(await acquire(name, 'c:1', Number.MAX_SAFE_INTEGER)).toEqual({ status: 'held' });
      expectRunning(await bench.pttl(name), Number.MAX_SAFE_INTEGER);
      await release(name, 'c:1');
    });
  });

  describeWithProcess('a server without memory to spare', () => {
    it('refuses to grant, and releases everything', async () => {
      const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] });
      const connection = await openRaw(server.host, server.port);
      await acquire('kept', 'c:1', 60_000, connection);
      await acquire('let go', 'c:2', 60_000, connection);
      await acquire('forced', 'c:3', 60_000, connection);
      await server.command('CONFIG', 'SET', 'maxmemory', '1');

      await expect(acquire('new', 'c:4', 60_000, connection)).rejects.toThrow(/OOM /);
      expect(await connection.command('EXISTS', 'new')).toBe(0);
      expect(await renew(['kept'], 200_000, ['c:1'], connection)).toEqual({ status: 'renewed', held: [1] });
      expectRunning((await connection.command('PTTL', 'kept')) as number, 200_000);
      expect(await release('let go', 'c:2', connection)).toEqual({ status: 'released', heardBy: 0 });
      const ended = { status: 'ended', announced: 1 };
      expect(await forceRelease('forced', 'c:3', 'r:1', connection)).toEqual(ended);
      expect(await forceRelease('gone', 'c:3', 'r:2', connection)).toEqual(ended);
      const answers = [endedOf('forced', 'r:1'), endedOf('gone', 'r:2')];
      expect(await connection.command('EXISTS', ...answers)).toBe(2);
      expect(await release('kept', 'c:9', connection)).toEqual({ status: 'lost' });
      expect(await connection.command('EXISTS', 'let go', 'forced')).toBe(0);
      expect(await connection.command('EXISTS', 'kept')).toBe(1);
    });
  });

  describeWithProcess('a user without permission to publish', () => {
    it('can release; only the announcement is refused', async () => {
      const { server, connection } = await openMute();
      const [admin, listener] = [
        await openRaw(server.host, server.port),
        await openRaw(server.host, server.port),
      ];
      await listener.subscribe(channelOf('quiet'));
      const heard = heardOn(listener, channelOf('quiet'), admin);

      await acquire('quiet', 'c:1', 60_000, connection);
      expect(await release('quiet', 'c:1', connection)).toEqual({ status: 'released', heardBy: -1 });
      expect(await connection.command('EXISTS', 'quiet')).toBe(0);
      await acquire('quiet', 'c:2', 60_000, connection);
      expect(await forceRelease('quiet', 'c:2', 'r:1', connection)).toEqual({
        status: 'ended',
        announced: 0,
      });
      expect(await connection.command('EXISTS', 'quiet')).toBe(0);
      expect(await heard()).toEqual([]);
    });
  });
}
