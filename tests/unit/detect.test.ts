import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey, Cluster as ValkeyCluster } from 'iovalkey';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import * as redis5 from 'redis5';
import { describe, expect, it, onTestFinished } from 'vitest';
import { detectDriver } from '../../src/drivers/detect.ts';
import { OptionError } from '../../src/errors.ts';

const lazy = { lazyConnect: true };
const nodes = [{ host: '127.0.0.1', port: 1 }];
const rootNodes = [{ url: 'redis://127.0.0.1:1' }];
const sentinel = { name: 'main', sentinelRootNodes: nodes };

function refusal(client: unknown): string {
  try {
    detectDriver(client);
  } catch (error) {
    expect(error).toBeInstanceOf(OptionError);
    return (error as Error).message;
  }
  return expect.unreachable('should have been refused');
}

describe('detectDriver', () => {
  it.each([
    ['ioredis 6', new Redis(lazy)],
    ['ioredis 6 with Sentinel', new Redis({ ...lazy, sentinels: nodes, name: 'main' })],
    ['ioredis 5', new Redis5(lazy)],
    ['iovalkey', new Valkey(lazy)],
    ['a subclass', new (class Mine extends Redis {})(lazy)],
  ])('takes %s for ioredis', (_, client) => {
    expect(detectDriver(client)).toMatchObject({ library: 'ioredis', keyPrefix: '' });
  });

  it.each([
    ['node-redis 6', createClient()],
    ['node-redis 6 with a type mapping', createClient().withTypeMapping({})],
    ['node-redis 5', redis5.createClient()],
  ])('takes %s for node-redis', (_, client) => {
    expect(detectDriver(client)).toMatchObject({ library: 'node-redis', keyPrefix: '' });
  });

  it.each([
    ['standalone', 'node-redis 6 pool', createClientPool()],
    ['standalone', 'node-redis 6 pool with a type mapping', createClientPool().withTypeMapping({})],
    ['standalone', 'node-redis 5 pool', redis5.createClientPool()],
    ['sentinel', 'node-redis 6 Sentinel client', createSentinel(sentinel)],
    [
      'sentinel',
      'node-redis 6 Sentinel client with options',
      createSentinel(sentinel).withCommandOptions({}),
    ],
    ['sentinel', 'node-redis 5 Sentinel client', redis5.createSentinel(sentinel)],
    ['cluster', 'node-redis 6 Cluster client', createCluster({ rootNodes })],
    [
      'cluster',
      'node-redis 6 Cluster client with options',
      createCluster({ rootNodes }).withCommandOptions({}),
    ],
    ['cluster', 'node-redis 5 Cluster client', redis5.createCluster({ rootNodes })],
  ])('finds the topology %s behind a %s', (topology, _, client) => {
    expect(detectDriver(client)).toMatchObject({ library: 'node-redis', topology, keyPrefix: '' });
  });

  it.each([
    ['standalone', GlideClient],
    ['cluster', GlideClusterClient],
  ])('takes a %s client of Valkey GLIDE, alone or with its configuration', async (topology, library) => {
    const config = { addresses: nodes, lazyConnect: true };
    const client = await library.createClient(config);
    onTestFinished(() => client.close());
    for (const given of [client, { client, config }]) {
      expect(detectDriver(given)).toMatchObject({ library: 'valkey-glide', topology, keyPrefix: '' });
    }
    expect(refusal({ client, config: { addresses: [] } })).toContain('{ addresses: [{ host, port }] }');
    expect(refusal({ client, config: { ...config, readOnly: true } })).toContain('readOnly');
  });

  it('tells the prefix of the client', () => {
    expect(detectDriver(new Redis({ ...lazy, keyPrefix: 'app:' })).keyPrefix).toBe('app:');
    expect(detectDriver(new Cluster(nodes, { ...lazy, keyPrefix: 'app:' })).keyPrefix).toBe('app:');
    const redisOptions = { keyPrefix: 'app:' };
    for (const client of [
      new Cluster(nodes, { ...lazy, redisOptions }),
      new Cluster5(nodes, { ...lazy, redisOptions }),
      new ValkeyCluster(nodes, { ...lazy, redisOptions }),
    ]) {
      expect(detectDriver(client).keyPrefix).toBe('app:');
    }
    expect(detectDriver(createClient({ keyPrefix: 'app:' })).keyPrefix).toBe('app:');
    expect(detectDriver(createClientPool({ keyPrefix: 'app:' })).keyPrefix).toBe('app:');
    expect(detectDriver(createSentinel({ ...sentinel, keyPrefix: 'app:' })).keyPrefix).toBe('app:');
    expect(detectDriver(createCluster({ rootNodes, keyPrefix: 'app:' })).keyPrefix).toBe('app:');
  });

  it.each([
    ['ioredis 6', new Cluster(nodes, lazy)],
    ['ioredis 5', new Cluster5(nodes, lazy)],
    ['iovalkey', new ValkeyCluster(nodes, lazy)],
    ['a subclass', new (class Mine extends Cluster {})(nodes, lazy)],
  ])('takes a Cluster of %s for ioredis', (_, client) => {
    expect(detectDriver(client)).toMatchObject({ library: 'ioredis', topology: 'cluster', keyPrefix: '' });
  });

  it('refuses a client that has Sentinels name a replica', () => {
    const replica = { ...lazy, sentinels: nodes, name: 'main', role: 'slave' } as const;
    for (const client of [new Redis(replica), new Redis5(replica), new Valkey(replica)]) {
      expect(refusal(client)).toContain('asks Sentinels for a replica');
    }
    // Without Sentinels the role means nothing.
    expect(detectDriver(new Redis({ ...lazy, role: 'slave' })).topology).toBe('standalone');
  });

  it.each([
    [null, 'null'],
    [undefined, 'undefined'],
    ['redis://me:secret@host', 'a string'],
    [6379, 'a number'],
    [{ host: '127.0.0.1' }, 'a plain object'],
    [Object.create(null), 'a plain object'],
    [new Map(), 'an instance of Map'],
    [Redis, 'a function'],
    [detectDriver(createClient()), 'an instance of OneServerDriver'],
    [createClient().legacy(), 'an instance of RedisLegacyClient'],
  ])('refuses %o and says what it got', (client, got) => {
    const message = refusal(client);
    expect(message).toMatch(
      /^Expected a Redis or Cluster instance of ioredis 5 or 6 or of iovalkey, .*node-redis/,
    );
    expect(message.endsWith(`; got ${got}`)).toBe(true);
  });
});
