import { describe, expect, it } from 'vitest';
import { othersIn, strangers } from '../../../src/cli/bench/production.ts';

describe('a server that looks like one in use', () => {
  it('is on another machine', () => {
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]']) {
      expect(strangers({ url: `redis://${host}:6379` })).toEqual([]);
    }
    expect(strangers({ url: 'redis://cache.internal' })).toEqual(['cache.internal']);
    expect(strangers({ cluster: [{ host: '127.0.0.1' }, { host: '10.0.0.1' }] })).toEqual(['10.0.0.1']);
    expect(strangers({ sentinels: [{ host: '127.evil.example' }], name: 'm' })).toEqual(['127.evil.example']);
  });

  it('has clients that are neither ours nor replicas', () => {
    const list = [
      'id=1 addr=127.0.0.1:1 name=holdfast:cli db=0 flags=N cmd=client|list',
      'id=2 addr=127.0.0.1:2 name= db=0 flags=S cmd=replconf',
      'id=3 addr=127.0.0.1:3 name=holdfast:client db=0 flags=N cmd=get',
      'id=4 addr=127.0.0.1:4 name= db=0 flags=P cmd=subscribe',
      '',
    ].join('\n');
    expect(othersIn(list)).toBe(2);
    expect(othersIn('')).toBe(0);
  });
});
