import { describe, expect, it } from 'vitest';
import { addresses, count, duration, patience, requiredReplicas } from '../../../src/cli/values.ts';

describe('the values of flags', () => {
  it.each([
    ['0', 0],
    ['500', 500],
    ['250ms', 250],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
  ])('a time of %s is %d ms', (text, ms) => {
    expect(duration(text)).toBe(ms);
  });

  it.each(['', '-1', '1e3', 's', '1 s', '1w', 'Infinity', '9999999999999999999'])('%j is no time', (text) => {
    expect(() => duration(text)).toThrow('Expected milliseconds');
  });

  it('waits forever only where that is said', () => {
    expect(patience('forever')).toBe(Number.POSITIVE_INFINITY);
    expect(patience('10s')).toBe(10_000);
    expect(() => patience('ever')).toThrow('Expected');
  });

  it('reads addresses, several of them too', () => {
    expect(addresses('a:1,[::1]:2', [{ host: 'z' }])).toEqual([
      { host: 'z' },
      { host: 'a', port: 1 },
      { host: '::1', port: 2 },
    ]);
    for (const text of ['', 'a:', 'a:0', 'a:70000', 'a b', '::1']) {
      expect(() => addresses(text)).toThrow('Expected host:port.');
    }
  });

  it('reads numbers', () => {
    expect(count('3')).toBe(3);
    expect(() => count('0')).toThrow('at least 1');
    expect(requiredReplicas('majority')).toBe('majority');
    expect(requiredReplicas('0')).toBe(0);
    expect(() => requiredReplicas('most')).toThrow('Expected a number, auto or majority.');
  });
});
