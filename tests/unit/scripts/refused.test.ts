/** Which rules a refusal asks for, in the words of every version of the server. */
import { describe, expect, it } from 'vitest';
import { explain } from '../../../src/explain.ts';
import { isRefused, noteRefused } from '../../../src/scripts/refused.ts';

const source = "local lock = KEYS[1]\nredis.call('HSET', lock, 1, 1)\nreturn redis.pcall('GET', lock)\n";
const SCRIPT = { name: 'fair-lock/acquire', source };
const KEYS = [
  { key: 'orders', type: 'hash' },
  { key: 'redisson_unlock_latch:{orders}:c:1', type: 'string' },
];
const PLACE = `script: ${'a'.repeat(40)}, on @user_script:2.`;

/** Answers TYPE with what each key holds. */
function holding(types: Record<string, string>) {
  return { script: async ([, key]: unknown[]) => types[String(key)] ?? 'none' };
}

async function said(message: string, used = KEYS, types: Record<string, string> = {}): Promise<string> {
  const error = new Error(message);
  expect(isRefused(error)).toBe(true);
  await noteRefused(holding(types), error, SCRIPT, used);
  return explain(error, 'NOPERM', false);
}

describe('a missing permission', () => {
  it.each([
    ["NOPERM this user has no permissions to run the 'evalsha' command", '+evalsha +eval'],
    ["NOPERM this user has no permissions to run the 'eval' command or its subcommand", '+evalsha +eval'],
    ["NOPERM User app has no permissions to run the 'evalsha' command", '+evalsha +eval'],
    [`ERR The user executing the script can't run this command or subcommand ${PLACE}`, '+hset'],
    [`ERR ACL failure in script: User app has no permissions to run the 'hset' command ${PLACE}`, '+hset'],
    [
      `ERR Error running script (call to f_${'a'.repeat(40)}): @user_script:3: @user_script: 3: The user executing the script can't run this command or subcommand`,
      '+get',
    ],
  ])('of a command: "%s"', async (message, rules) => {
    expect(await said(message)).toMatch(new RegExp(`ACL SETUSER <user> ${rules.replace(/\+/g, '\\+')}$`));
  });

  it.each([
    'NOPERM this user has no permissions to access one of the keys used as arguments',
    "NOPERM User app has no permissions to access the 'orders' key",
    `ERR The user executing the script can't access at least one of the keys mentioned in the command arguments ${PLACE}`,
  ])('of a key: "%s"', async (message) => {
    expect(await said(message)).toContain(
      'ACL SETUSER <user> ~orders ~{orders}* ~redisson_*:{orders}* ~holdfast_*:{orders}*',
    );
  });

  it.each([
    ['a{b}', '~a{b} ~a{b}* ~redisson_*:a{b}* ~holdfast_*:a{b}*'],
    ['a*?', '~a\\*\\? ~{a\\*\\?}* ~redisson_*:{a\\*\\?}* ~holdfast_*:{a\\*\\?}*'],
    ['app:holdfast_guard', '~app:holdfast_guard*'],
    ['holdfast_guard:{5}', '~holdfast_guard*'],
    ['holdfast_client:{x}', '~holdfast_client*'],
    ['{orders}:timeout', '~orders ~{orders}* ~redisson_*:{orders}* ~holdfast_*:{orders}*'],
  ])('of the key %s', async (key, rules) => {
    const message = 'NOPERM this user has no permissions to access one of the keys used as arguments';
    expect(await said(message, [{ key, type: 'string' }])).toMatch(
      new RegExp(`ACL SETUSER <user> ${rules.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`),
    );
  });

  it('that the server does not name: its own words', async () => {
    const message = 'NOPERM no permission at all';
    expect(await said(message)).toBe("the server's access rules forbid the command: no permission at all");
  });
});

describe('a value of another type', () => {
  const WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';

  it('is found under any key of the script', async () => {
    const types = { orders: 'hash', 'redisson_unlock_latch:{orders}:c:1': 'list' };
    expect(await said(WRONGTYPE, KEYS, types)).toContain(
      'the key "redisson_unlock_latch:{orders}:c:1" holds a list instead of a string: it is not a lock; ' +
        'holdfast did not change it',
    );
  });

  it('is spoken of in general where the server does not tell the type', async () => {
    const error = new Error(WRONGTYPE);
    const script = async () => Promise.reject(new Error('NOPERM'));
    await noteRefused({ script }, error, SCRIPT, KEYS);
    expect(explain(error, 'WRONGTYPE', false)).toContain('the key "orders" holds a value that is not a lock');
  });
});
