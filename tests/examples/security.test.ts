/** The permissions that SECURITY.md asks for: enough, and what the scripts really use. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import * as scripts from '../../src/scripts/generated.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { ROOT } from './support/doc-blocks.ts';

const page = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
/** Optional, and tells names of channels: not for every user. */
const FOR_THE_DASHBOARD = 'PUBSUB';
const aclLine = /^ACL SETUSER .*$/m.exec(page)?.[0] ?? '';

/** Every command that they call, in capitals. */
function commandsInScripts(): Set<string> {
  const found = new Set<string>();
  for (const script of Object.values(scripts)) {
    for (const [, command] of script.source.matchAll(/redis\.p?call\('(\w+)'/g)) found.add(command ?? '');
  }
  return found;
}

describe('the commands that SECURITY.md names', () => {
  it('are all that the scripts call', () => {
    const commands = [...commandsInScripts()];
    expect(commands).toContain('PEXPIRE');
    for (const command of commands) {
      expect(page).toContain(`\`${command}\``);
      if (command === FOR_THE_DASHBOARD) continue;
      expect(aclLine.split(' ')).toContain(`+${command.toLowerCase()}`);
    }
  });
});

describeWithProcess('the user of SECURITY.md', () => {
  async function connect() {
    const server = await ownServer();
    await server.command('ACL', ...aclLine.split(' ').slice(1));
    const open = async () => {
      const client = await Holdfast.connect({
        url: server.url,
        username: 'holdfast',
        password: 'change-me',
      });
      onTestFinished(() => client.close());
      const warnings: string[] = [];
      client.on('warning', ({ code }) => warnings.push(code));
      return { client, warnings };
    };
    return { one: await open(), other: await open() };
  }

  for (const kind of ['getLock', 'getSpinLock', 'getSimpleLock'] as const) {
    it(`can take, wait for, extend, re-enter and free a ${kind}`, async () => {
      const { one, other } = await connect();
      const lock = one.client[kind]('orders:1');
      const hold = await lock.lock();
      await hold.extend(60_000);
      const waiting = other.client[kind]('orders:1').lock();
      expect(await other.client[kind]('orders:1').isLocked()).toBe(true);
      expect(await hold.unlock()).toBe(true);
      const second = await waiting;
      expect((await one.client.inspect('orders:1')).kind).not.toBe('free');
      expect(await other.client[kind]('orders:1').forceUnlock()).toBe(true);
      expect(second.signal.aborted).toBe(true);
      const count = await lock.withLock(() => lock.withLock(() => lock.getHoldCount()));
      expect(count).toBe(2);
      expect([...one.warnings, ...other.warnings]).toEqual([]);
    });
  }

  it('can use every other primitive', async () => {
    const { one, other } = await connect();
    const { client } = one;
    const name = (what: string) => `orders:${what}`;
    for (const lock of [client.getFairLock(name('fair')), client.getFencedLock(name('fenced'))]) {
      expect(await lock.withLock(() => lock.withLock(() => lock.getHoldCount()))).toBe(2);
    }
    const { token } = await client.getFencedLock(name('fenced')).lock();
    await client.getFencedRegister(name('register')).write('value', token);
    expect(await client.getFencedRegister(name('register')).read()).toEqual({ value: 'value', token });

    const rw = client.getReadWriteLock(name('rw'), { prefer: 'writer' });
    const read = await rw.readLock().lock();
    const writing = other.client.getReadWriteLock(name('rw'), { prefer: 'writer' }).writeLock().lock();
    expect(await read.unlock()).toBe(true);
    expect(await (await writing).unlock()).toBe(true);
    expect(await client.locks.request(name('web'), (lock) => lock.mode)).toBe('exclusive');

    const semaphore = client.getSemaphore(name('semaphore'));
    expect(await semaphore.trySetPermits(2)).toBe(true);
    expect(await semaphore.withPermit(() => semaphore.availablePermits())).toBe(1);
    const permits = client.getPermitExpirableSemaphore(name('permits'));
    expect(await permits.trySetPermits(2)).toBe(true);
    expect(await (await permits.acquire()).release()).toBe(true);
    const latch = client.getCountDownLatch(name('latch'));
    expect(await latch.trySetCount(1)).toBe(true);
    const opened = other.client.getCountDownLatch(name('latch')).await();
    await latch.countDown();
    expect(await opened).toBe(true);
    const limiter = client.getRateLimiter(name('rate'));
    expect(await limiter.trySetRate({ mode: 'overall', rate: 2, intervalMs: 60_000 })).toBe(true);
    expect([await limiter.tryAcquire(2), await limiter.tryAcquire()]).toEqual([true, false]);
    expect([...one.warnings, ...other.warnings]).toEqual([]);
  });

  it('cannot touch other keys', async () => {
    const { one } = await connect();
    await expect(one.client.getLock('invoices:1').tryLock()).rejects.toMatchObject({
      code: 'ERR_DRIVER',
      message: expect.stringMatching(/permission/i),
    });
  });
});

describeWithProcess('a password', () => {
  it('is not repeated in errors nor in their causes', async () => {
    const server = await ownServer({ args: ['--requirepass', 'right'] });
    const connecting = Holdfast.connect({ url: server.url, password: 'wrong-secret' });
    const error: unknown = await connecting.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'ERR_DRIVER', message: expect.stringContaining('WRONGPASS') });
    expect(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(
      'wrong-secret',
    );
  });
});
