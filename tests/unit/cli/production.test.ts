import { describe, expect, it } from 'vitest';
import { type Answers, signsIn } from '../../../src/cli/bench/production.ts';

const quiet: Answers = { node: '', keys: 0, clients: '' };

const clients = (...lines: string[]) => ({ ...quiet, clients: `${lines.join('\n')}\n` });

describe('a server that looks like one in use', () => {
  it('is on another machine', () => {
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]']) {
      expect(signsIn({ url: `redis://${host}:6379` }, 'standalone', [quiet])).toEqual([]);
    }
    expect(signsIn({ url: 'redis://cache.internal' }, 'standalone', [quiet])).toEqual([
      'cache.internal is not this machine',
    ]);
    const sentinels = [{ host: '127.evil.example' }];
    expect(signsIn({ sentinels, name: 'm' }, 'sentinel', [quiet])).toEqual([
      '127.evil.example is not this machine',
    ]);
  });

  it('is on another machine though the seed is on this one', () => {
    const nodes = ['127.0.0.1:7000', '10.0.0.1:7000', '10.0.0.1:7001', '::1:7002'];
    const answers = nodes.map((node) => ({ ...quiet, node }));
    expect(signsIn({ cluster: [{ host: '127.0.0.1' }] }, 'cluster', answers)).toEqual([
      '10.0.0.1 is not this machine',
    ]);
  });

  it('is behind Sentinels of this machine, and sees it under another address', () => {
    const target = { sentinels: [{ host: '127.0.0.1' }], name: 'm' };
    const seenAs = (address: string) => clients(`id=1 addr=${address} name=holdfast:cli flags=N`);
    expect(signsIn(target, 'sentinel', [seenAs('127.0.0.1:50000')])).toEqual([]);
    expect(signsIn(target, 'sentinel', [seenAs('[::1]:50000')])).toEqual([]);
    expect(signsIn(target, 'sentinel', [seenAs('10.0.0.9:50000')])).toEqual(['10.0.0.9 is not this machine']);
  });

  it('has replicas, and clients that are not ours', () => {
    const found = clients(
      'id=1 addr=127.0.0.1:1 name=holdfast:cli db=0 flags=N cmd=client|list',
      'id=2 addr=127.0.0.1:2 name= db=0 flags=S cmd=replconf',
      'id=3 addr=127.0.0.1:3 name=holdfast:client db=0 flags=N cmd=get',
      'id=4 addr=127.0.0.1:4 name= db=0 flags=P cmd=subscribe',
      'id=5 addr=127.0.0.1:5 name= db=0 flags=M cmd=ping',
    );
    expect(signsIn({ url: 'redis://localhost' }, 'standalone', [found])).toEqual([
      '1 replica is connected',
      '2 other clients are connected',
    ]);
  });

  it('has many keys, or does not tell', () => {
    const answers = [
      { ...quiet, node: '127.0.0.1:1', keys: 1_001 },
      { node: '127.0.0.1:2', keys: null, clients: null },
    ];
    expect(signsIn({ cluster: [{ host: 'localhost' }] }, 'cluster', answers)).toEqual([
      '127.0.0.1:1 has 1001 keys',
      '127.0.0.1:2 may not be asked DBSIZE',
      '127.0.0.1:2 may not be asked CLIENT LIST',
    ]);
  });
});
