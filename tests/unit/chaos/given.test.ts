/** Which servers of users the storms touch, and which they leave alone. */
import { describe, expect, it } from 'vitest';
import { isLoopback, parseServerUrl, reasonToSpare } from '../../../chaos/stages/given.ts';

const EMPTY = { keys: 0, replicas: 0 };
const at = (host: string) => ({ host, port: 6379 });

describe('a server of the user', () => {
  it('is read from its URL', () => {
    expect(parseServerUrl('redis://127.0.0.1:7000')).toEqual({ host: '127.0.0.1', port: 7000 });
    expect(parseServerUrl('redis://localhost')).toEqual({ host: 'localhost', port: 6379 });
    expect(parseServerUrl('redis://[::1]:7000/0')).toEqual({ host: '::1', port: 7000 });
  });

  it.each([
    ['rediss://127.0.0.1', 'plain redis://'],
    ['redis://user:pw@127.0.0.1', 'do not log in'],
    ['redis://127.0.0.1/3', 'database 0'],
  ])('is refused as %s', (url, why) => {
    expect(() => parseServerUrl(url)).toThrow(why);
  });

  it('counts as this machine only by its form', () => {
    for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) expect(isLoopback(host)).toBe(true);
    for (const host of ['10.0.0.1', '127.evil.example', 'redis', '::2']) expect(isLoopback(host)).toBe(false);
  });

  it('is used only if it is local, empty and without replicas', () => {
    expect(reasonToSpare(at('127.0.0.1'), EMPTY)).toBeUndefined();
    expect(reasonToSpare(at('10.0.0.1'), EMPTY)).toContain('not this machine');
    expect(reasonToSpare(at('127.0.0.1'), { keys: 3, replicas: 0 })).toContain('3 keys');
    expect(reasonToSpare(at('127.0.0.1'), { keys: 0, replicas: 1 })).toContain('1 replicas');
  });
});
