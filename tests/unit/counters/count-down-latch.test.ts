/** Which latches a Cluster can hold: those whose key, channel and answers hash to one slot. */
import { describe, expect, it } from 'vitest';
import { latchFitsCluster } from '../../../src/counters/count-down-latch.ts';
import { answerKey, latchChannel } from '../../../src/keys.ts';

/** The part of a key that a Cluster hashes: between the first brace and the next closing one, if that is not empty. */
function hashed(key: string): string {
  return /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;
}

describe('latchFitsCluster', () => {
  it.each([
    ['order', true],
    ['order:42', true],
    ['{tenant}:order', false],
    ['order:{tenant}', false],
    ['a{b', false],
    ['a}b', false],
    ['x{}y', false],
    ['{', false],
  ])('%s: %s, as the slots of its keys have it', (name, fits) => {
    const slots = new Set([name, latchChannel(name), answerKey(name, 'c:1')].map(hashed));
    expect(slots.size === 1).toBe(fits);
    expect(latchFitsCluster(name)).toBe(fits);
  });
});
