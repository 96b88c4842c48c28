/**
 * A server that may not write is not in charge, and what it says of a hold counts for nothing: another one may have
 * been promoted. Whatever tells a holder that it still holds must therefore write, though nothing has to change.
 */
import { describe, expect, it } from 'vitest';
import {
  fairLockReclaim,
  fairLockRelease,
  fencedLockReclaim,
  lockEnd,
  lockReclaim,
  lockRelease,
  lockRenew,
  permitSemaphoreRenew,
  readWriteLockReadReclaim,
  readWriteLockReadRelease,
  readWriteLockReadRenew,
  readWriteLockWriteReclaim,
  readWriteLockWriteRelease,
  simpleLockEnd,
  simpleLockReclaim,
  simpleLockRelease,
  simpleLockRenew,
} from '../../src/scripts/generated.ts';
import type { ScriptRunner } from '../../src/scripts/script.ts';
import type { RawArgument, RawConnection } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { rawDriver } from './support/script-bench.ts';

const OWNER = 'c:1';
/** What the holds have, and the little that is asked for. */
const LEFT_MS = 600_000;
const LEASE_MS = 1_000;

const GRACE = { graceMs: 60_000, trusted: '' };

interface Confirming {
  readonly title: string;
  /** The hold, by hand. */
  plant(name: string): RawArgument[][];
  confirm(driver: ScriptRunner, name: string): Promise<unknown>;
  readonly held: unknown;
}

const hash =
  (...fields: string[]) =>
  (name: string) => [
    ['HSET', name, ...fields],
    ['PEXPIRE', name, LEFT_MS],
  ];
const text = (name: string) => [['SET', name, OWNER, 'PX', LEFT_MS]];
const reading = (name: string) => [
  ...hash('mode', 'read', OWNER, '1')(name),
  ['SET', `{${name}}:${OWNER}:rwlock_timeout:1`, '1', 'PX', LEFT_MS],
];
const keys = (name: string) => ({ lock: name, ended: `{${name}}:ended`, guard: `{${name}}:guard` });
const RENEWED = { status: 'renewed', held: [1] };
const HELD = { status: 'held' };
const PERMIT = Buffer.alloc(16, 7);

const CONFIRMING: Confirming[] = [
  {
    title: 'lock/renew',
    plant: hash(OWNER, '1'),
    confirm: (driver, name) =>
      lockRenew.run(driver, { locks: [name] }, { leaseMs: LEASE_MS, owners: [OWNER] }),
    held: RENEWED,
  },
  {
    title: 'simple-lock/renew',
    plant: text,
    confirm: (driver, name) =>
      simpleLockRenew.run(driver, { locks: [name] }, { leaseMs: LEASE_MS, owners: [OWNER] }),
    held: RENEWED,
  },
  {
    title: 'read-write-lock/read-renew',
    plant: reading,
    confirm: (driver, name) =>
      readWriteLockReadRenew.run(
        driver,
        { places: [name, `{${name}}:${OWNER}:rwlock_timeout:1`] },
        { holders: [OWNER, '1', String(LEASE_MS)] },
      ),
    held: RENEWED,
  },
  {
    title: 'permit-semaphore/renew',
    plant: (name) => [
      ['ZADD', name, Date.now() + LEFT_MS, PERMIT],
      ['PEXPIRE', name, LEFT_MS],
    ],
    confirm: (driver, name) =>
      permitSemaphoreRenew.run(driver, { timeouts: [name] }, { leaseMs: LEASE_MS, ids: [PERMIT] }),
    held: RENEWED,
  },
  {
    title: 'lock/reclaim',
    plant: hash(OWNER, '1'),
    confirm: (driver, name) =>
      lockReclaim.run(driver, keys(name), { owner: OWNER, count: 1, leaseMs: LEASE_MS, ...GRACE }),
    held: HELD,
  },
  {
    title: 'fair-lock/reclaim',
    plant: hash(OWNER, '1'),
    confirm: (driver, name) =>
      fairLockReclaim.run(
        driver,
        { ...keys(name), queue: `{${name}}:queue`, timeouts: `{${name}}:timeouts`, seen: `{${name}}:seen` },
        { owner: OWNER, count: 1, leaseMs: LEASE_MS, ...GRACE },
      ),
    held: HELD,
  },
  {
    title: 'fenced-lock/reclaim',
    plant: (name) => [...hash(OWNER, '1')(name), ['SET', `{${name}}:last`, '7']],
    confirm: (driver, name) =>
      fencedLockReclaim.run(
        driver,
        { ...keys(name), last: `{${name}}:last` },
        { owner: OWNER, count: 1, token: 7, leaseMs: LEASE_MS, ...GRACE },
      ),
    held: HELD,
  },
  {
    title: 'simple-lock/reclaim',
    plant: text,
    confirm: (driver, name) =>
      simpleLockReclaim.run(driver, keys(name), { owner: OWNER, leaseMs: LEASE_MS, ...GRACE }),
    held: HELD,
  },
  {
    title: 'read-write-lock/read-reclaim',
    plant: reading,
    confirm: (driver, name) =>
      readWriteLockReadReclaim.run(
        driver,
        { ...keys(name), holds: [`{${name}}:${OWNER}:rwlock_timeout:1`] },
        { owner: OWNER, writer: '', leaseMs: LEASE_MS, ...GRACE },
      ),
    held: HELD,
  },
  {
    title: 'read-write-lock/write-reclaim',
    plant: hash('mode', 'write', OWNER, '1'),
    confirm: (driver, name) =>
      readWriteLockWriteReclaim.run(driver, keys(name), {
        owner: OWNER,
        reader: '',
        count: 1,
        leaseMs: LEASE_MS,
        ...GRACE,
      }),
    held: HELD,
  },
];

/** Before Redis 7 a script writes also where the setting refuses every command that writes. */
async function asksForReplicasInScripts(connection: RawConnection): Promise<boolean> {
  const info = String(await connection.command('INFO', 'server'));
  return Number(/redis_version:(\d+)/.exec(info)?.[1]) >= 7;
}

describeWithProcess('a hold whose lease is long enough', () => {
  describe.each(CONFIRMING)('$title', ({ plant, confirm, held }) => {
    it('is confirmed by a server in charge, and keeps its lease', async () => {
      const server = await ownServer();
      const connection = await openRaw(server.host, server.port);
      const name = randomName('charge');
      for (const [command, ...args] of plant(name)) await connection.command(command as string, ...args);
      expect(await confirm(rawDriver(connection), name)).toEqual(held);
      expect(await connection.command('PTTL', name)).toBeGreaterThan(LEFT_MS - 30_000);
      expect(await connection.command('PTTL', name)).toBeLessThanOrEqual(LEFT_MS);
    });

    it('is not confirmed by a primary that lost its replicas, nor by a replica', async () => {
      const server = await ownServer();
      const connection = await openRaw(server.host, server.port);
      const name = randomName('charge');
      for (const [command, ...args] of plant(name)) await connection.command(command as string, ...args);

      await connection.command('CONFIG', 'SET', 'min-replicas-to-write', 1);
      const isRefused = await asksForReplicasInScripts(connection);
      const confirmed = confirm(rawDriver(connection), name);
      if (isRefused) await expect(confirmed).rejects.toThrow(/NOREPLICAS/);
      else expect(await confirmed).toEqual(held);

      await connection.command('CONFIG', 'SET', 'min-replicas-to-write', 0);
      // Of a primary that it cannot reach, so that it keeps what it has.
      await connection.command('REPLICAOF', '127.0.0.1', 1);
      await expect(confirm(rawDriver(connection), name)).rejects.toThrow(/READONLY/);
    });
  });
});

const RELEASE = { owner: OWNER, publish: 'PUBLISH', channel: 'redisson_lock__channel' };

const RELEASING: Pick<Confirming, 'title' | 'confirm'>[] = [
  { title: 'lock/release', confirm: (driver, lock) => lockRelease.run(driver, { lock }, RELEASE) },
  {
    title: 'lock/end',
    confirm: (driver, name) => lockEnd.run(driver, keys(name), { ...RELEASE, rememberMs: 1_000 }),
  },
  {
    title: 'simple-lock/release',
    confirm: (driver, lock) => simpleLockRelease.run(driver, { lock }, RELEASE),
  },
  {
    title: 'simple-lock/end',
    confirm: (driver, name) => simpleLockEnd.run(driver, keys(name), { ...RELEASE, rememberMs: 1_000 }),
  },
  {
    title: 'fair-lock/release',
    confirm: (driver, name) =>
      fairLockRelease.run(
        driver,
        {
          lock: name,
          ended: keys(name).ended,
          queue: `{${name}}:queue`,
          timeouts: `{${name}}:timeouts`,
          seen: `{${name}}:seen`,
        },
        { ...RELEASE, silentMs: 1_000, rememberMs: 1_000 },
      ),
  },
  {
    title: 'read-write-lock/read-release',
    confirm: (driver, name) =>
      readWriteLockReadRelease.run(
        driver,
        { lock: name, ended: keys(name).ended, holds: [`{${name}}:hold`] },
        { ...RELEASE, rememberMs: 1_000 },
      ),
  },
  {
    title: 'read-write-lock/write-release',
    confirm: (driver, name) =>
      readWriteLockWriteRelease.run(
        driver,
        { lock: name, ended: keys(name).ended, waiting: `{${name}}:waiting` },
        { ...RELEASE, rememberMs: 1_000 },
      ),
  },
];

describeWithProcess('a hold that is not there', () => {
  const reclaiming = CONFIRMING.filter(({ title }) => title.endsWith('reclaim'));

  describe.each([...reclaiming, ...RELEASING])('$title', ({ confirm }) => {
    it('is not reported as lost by a replica, whose data may be old', async () => {
      const server = await ownServer();
      const connection = await openRaw(server.host, server.port);
      const name = randomName('charge');
      // As it was when it was in charge itself, and nobody was to be kept out any more.
      const info = String(await connection.command('INFO', 'replication'));
      await connection.command('SET', keys(name).guard, /master_replid:\w+/.exec(info)?.[0] ?? '');
      expect(await confirm(rawDriver(connection), name)).toEqual({ status: 'lost' });
      await connection.command('REPLICAOF', '127.0.0.1', 1);
      await expect(confirm(rawDriver(connection), name)).rejects.toThrow(/READONLY/);
    });
  });
});
