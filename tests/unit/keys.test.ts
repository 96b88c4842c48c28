/** Keys and channels, spelled by hand after Redisson's templates. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lockChannel, tombstoneKey } from '../../src/keys.ts';

describe('lockChannel', () => {
  it.each([
    ['order', 'redisson_lock__channel:{order}'],
    ['{t}:order', 'redisson_lock__channel:{t}:order'],
    ['a:b c', 'redisson_lock__channel:{a:b c}'],
    // Only an opening brace is looked for, matched or not.
    ['a{b', 'redisson_lock__channel:a{b'],
    ['x{}y', 'redisson_lock__channel:x{}y'],
    ['a}b', 'redisson_lock__channel:{a}b}'],
    ['鍵', 'redisson_lock__channel:{鍵}'],
  ])('of %s', (name, channel) => {
    expect(lockChannel(name)).toBe(channel);
  });
});

describe('tombstoneKey', () => {
  const id = '0123456789abcdef0123456789abcdef';

  it.each([
    ['order', `redisson_unlock_latch:{order}:${id}`],
    ['{t}:order', `redisson_unlock_latch:{t}:order:${id}`],
  ])('of %s', (name, key) => {
    expect(tombstoneKey(name, id)).toBe(key);
  });
});

describe('hash tags', () => {
  /** What a Cluster hashes of a key: what is between the first `{` and the next `}`, unless that is empty. */
  function hashed(key: string): string {
    const opens = key.indexOf('{');
    const closes = opens < 0 ? -1 : key.indexOf('}', opens + 1);
    return closes > opens + 1 ? key.slice(opens + 1, closes) : key;
  }

  it('keep the keys of a name in one slot, for names without braces and with a tag', () => {
    const plain = fc.string({ minLength: 1 }).filter((name) => !/[{}]/.test(name));
    const tagged = fc.tuple(plain, plain, plain).map(([a, tag, b]) => `${a}{${tag}}${b}`);
    fc.assert(
      fc.property(fc.oneof(plain, tagged), (name) => {
        expect(hashed(lockChannel(name))).toBe(hashed(name));
        expect(hashed(tombstoneKey(name, 'c:1'))).toBe(hashed(name));
      }),
    );
  });

  it('give different names different channels', () => {
    const name = fc.string({ minLength: 1 }).filter((text) => !/[{}]/.test(text));
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(lockChannel(a) === lockChannel(b)).toBe(a === b);
      }),
    );
  });
});
