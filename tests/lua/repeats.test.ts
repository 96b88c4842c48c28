/**
 * A grant that is asked for once more, since its reply was lost, is written once more: newer servers wait for replicas
 * only as far as the asking connection has written, and the first one wrote on a connection that is gone.
 */
import { expect, it } from 'vitest';
import {
  fairLockAcquire,
  fencedLockAcquire,
  lockAcquire,
  permitSemaphoreAcquire,
  readWriteLockReadAcquire,
  readWriteLockWriteAcquire,
  semaphoreAcquire,
  simpleLockAcquire,
} from '../../src/scripts/generated.ts';
import type { ScriptRunner } from '../../src/scripts/script.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { rawDriver } from './support/script-bench.ts';

const LOCK = { owner: 'c:1', leaseMs: 60_000 };
const CHANNEL = { publish: 'PUBLISH', channel: 'nobody' };

type Grant = (driver: ScriptRunner, name: string) => Promise<{ status: string }>;

const permits =
  (leaseMs: number): Grant =>
  (driver, name) =>
    permitSemaphoreAcquire.run(
      driver,
      { permits: name, timeouts: `{${name}}:timeout`, ended: [`{${name}}:ended`] },
      { leaseMs, ...CHANNEL, ids: [Buffer.alloc(16, 7)] },
    );

const GRANTS: Record<string, Grant> = {
  'lock/acquire': (driver, lock) => lockAcquire.run(driver, { lock, ended: `{${lock}}:ended` }, LOCK),
  'simple-lock/acquire': (driver, lock) =>
    simpleLockAcquire.run(driver, { lock, ended: `{${lock}}:ended` }, LOCK),
  'fenced-lock/acquire': (driver, lock) =>
    fencedLockAcquire.run(
      driver,
      { lock, ended: `{${lock}}:ended`, token: `{${lock}}:token` },
      { ...LOCK, retentionMs: 0 },
    ),
  'fair-lock/acquire': (driver, lock) =>
    fairLockAcquire.run(
      driver,
      {
        lock,
        ended: `{${lock}}:ended`,
        queue: `{${lock}}:queue`,
        timeouts: `{${lock}}:timeouts`,
        seen: `{${lock}}:seen`,
      },
      { ...LOCK, waitMs: 0, silentMs: 1_000, ...CHANNEL },
    ),
  'read-write-lock/read-acquire': (driver, lock) =>
    readWriteLockReadAcquire.run(
      driver,
      { lock, ended: `{${lock}}:ended`, hold: `{${lock}}:hold`, waiting: `{${lock}}:waiting` },
      { ...LOCK, writer: '' },
    ),
  'read-write-lock/write-acquire': (driver, lock) =>
    readWriteLockWriteAcquire.run(
      driver,
      { lock, ended: `{${lock}}:ended`, waiting: `{${lock}}:waiting` },
      { ...LOCK, noteMs: 0 },
    ),
  'semaphore/acquire': (driver, name) =>
    semaphoreAcquire.run(
      driver,
      { permits: name, answer: `{${name}}:answer` },
      { count: 1, takenMs: 60_000, shortMs: 60_000 },
    ),
  'permit-semaphore/acquire, with a lease': permits(60_000),
  'permit-semaphore/acquire, without': permits(-1),
};

async function changes(connection: RawConnection): Promise<number> {
  const info = String(await connection.command('INFO', 'persistence'));
  return Number(/rdb_changes_since_last_save:(\d+)/.exec(info)?.[1]);
}

describeWithProcess('a grant that is repeated', () => {
  it.each(Object.entries(GRANTS))('is written again, and remains one grant: %s', async (title, grant) => {
    const server = await ownServer({ args: ['--save', ''] });
    const connection = await openRaw(server.host, server.port);
    const name = randomName('repeat');
    const isCounted = title.includes('semaphore');
    if (isCounted) await connection.command('SET', name, 3);
    const first = await grant(rawDriver(connection), name);
    expect(first.status).toMatch(/^(?:held|taken)$/);
    for (let repeat = 0; repeat < 3; repeat += 1) {
      const before = await changes(connection);
      expect(await grant(rawDriver(connection), name)).toEqual(first);
      expect(await changes(connection)).toBeGreaterThan(before);
    }
    if (isCounted) expect(await connection.command('GET', name)).toBe('2');
  });
});
