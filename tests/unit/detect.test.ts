import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey, Cluster as ValkeyCluster } from 'iovalkey';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import * as redis5 from 'redis5';
import { describe, expect, it } from 'vitest';
import { detectDriver } from '../../src/drivers/detect.ts';
import { OptionError } from '../../src/errors.ts';

const lazy = { lazyConnect: true };
const nodes = [{ host: '127.0.0.1', port: 1 }];
const rootNodes = [{ url: 'redis://127.0.0.1:1' }];
const sentinel = { name: 'main', sentinelRootNodes: nodes };

class GlideClient {
  customCommand(): void {}
  invokeScript(): void {}
}

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

  it('tells the prefix of the client', () => {
    expect(detectDriver(new Redis({ ...lazy, keyPrefix: 'app:' })).keyPrefix).toBe('app:');
    expect(detectDriver(createClient({ keyPrefix: 'app:' })).keyPrefix).toBe('app:');
  });

  it.each([
    ['a Cluster of ioredis or iovalkey', new Cluster(nodes, lazy)],
    ['a Cluster of ioredis or iovalkey', new Cluster5(nodes, lazy)],
    ['a Cluster of ioredis or iovalkey', new ValkeyCluster(nodes, lazy)],
    ['a node-redis cluster', createCluster({ rootNodes })],
    ['a node-redis cluster', redis5.createCluster({ rootNodes })],
    ['a node-redis Sentinel client', createSentinel(sentinel)],
    ['a node-redis Sentinel client', redis5.createSentinel(sentinel)],
    ['a node-redis client pool', createClientPool()],
    ['a node-redis client pool', redis5.createClientPool()],
    ['a Valkey GLIDE client', new GlideClient()],
  ])('says that %s is not supported yet', (name, client) => {
    const message = refusal(client);
    expect(message).toContain(`Got ${name}, which this version does not support yet`);
    expect(message).toContain('ioredis 5 or 6');
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
    [detectDriver(createClient()), 'an instance of NodeRedisDriver'],
    [createClient().legacy(), 'an instance of RedisLegacyClient'],
  ])('refuses %o and says what it got', (client, got) => {
    const message = refusal(client);
    expect(message).toMatch(/^Expected a Redis instance of ioredis 5 or 6, .*node-redis/);
    expect(message.endsWith(`; got ${got}`)).toBe(true);
  });
});
