/** The permissions that SECURITY.md asks for: enough, and what the scripts really use. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import * as scripts from '../../src/scripts/generated.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { ROOT } from './doc-blocks.ts';

const page = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
const aclLine = /^ACL SETUSER .*$/m.exec(page)?.[0] ?? '';

/** The scripts that the page speaks of, by their folders. */
const DOCUMENTED = /^(lock|simple-lock|inspect)\//;

/** Every command that they call, in capitals. */
function commandsInScripts(): Set<string> {
  const found = new Set<string>();
  for (const script of Object.values(scripts)) {
    if (!DOCUMENTED.test(script.name)) continue;
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

  it('can do nothing to other keys', async () => {
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
