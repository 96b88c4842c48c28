import { once } from 'node:events';
import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide';
import { Cluster, Redis } from 'ioredis';
// @ts-expect-error Version 4 has no types.
import Redis4 from 'ioredis4';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey, Cluster as ValkeyCluster } from 'iovalkey';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import * as redis4 from 'redis4';
import * as redis5 from 'redis5';
import { describe, expect, it, onTestFinished } from 'vitest';
import { detectDriver } from '../../../src/drivers/detect.ts';
import { OptionError } from '../../../src/errors.ts';

const lazy = { lazyConnect: true };
const socket = { host: '127.0.0.1', port: 1 };
const nodes = [socket];
const rootNodes = [{ url: 'redis://127.0.0.1:1' }];
const sentinel = { name: 'main', sentinelRootNodes: nodes };

interface Connectable {
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  destroy(): unknown;
}

/** On its way to a server that is not there: open, and not ready. */
function connecting<Client extends Connectable>(client: Client): Client {
  client.on('error', () => {});
  client.connect().catch(() => undefined);
  onTestFinished(() => void client.destroy());
  return client;
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
  ])('recognises %s as ioredis', (_, client) => {
    expect(detectDriver(client)).toMatchObject({ library: 'ioredis', keyPrefix: '' });
  });

  it.each([
    ['node-redis 6', createClient({ socket })],
    ['node-redis 6 with a type mapping', createClient({ socket }).withTypeMapping({})],
    ['node-redis 5', redis5.createClient({ socket })],
  ])('recognises %s as node-redis', (_, client) => {
    expect(detectDriver(connecting(client))).toMatchObject({ library: 'node-redis', keyPrefix: '' });
  });

  it.each([
    ['standalone', 'node-redis 6 pool', createClientPool({ socket })],
    ['standalone', 'node-redis 6 pool with a type mapping', createClientPool({ socket }).withTypeMapping({})],
    ['standalone', 'node-redis 5 pool', redis5.createClientPool({ socket })],
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
    expect(detectDriver(connecting(client))).toMatchObject({
      library: 'node-redis',
      topology,
      keyPrefix: '',
    });
  });

  it.each([
    ['standalone', GlideClient],
    ['cluster', GlideClusterClient],
  ])('recognises a %s client of Valkey GLIDE, alone or with its configuration', async (topology, library) => {
    const config = { addresses: nodes, lazyConnect: true };
    const client = await library.createClient(config);
    for (const given of [client, { client, config }]) {
      expect(detectDriver(given)).toMatchObject({ library: 'valkey-glide', topology, keyPrefix: '' });
    }
    expect(refusal({ client, config: { addresses: [] } })).toContain('{ addresses: [{ host, port }], … }');
    expect(refusal({ client, config: { ...config, readOnly: true } })).toContain('readOnly');
    client.close();
    for (const given of [client, { client, config }]) {
      expect(refusal(given)).toBe(
        'This Valkey GLIDE client is closed: pass an open client to Holdfast.from()',
      );
    }
  });

  it('reports the prefix of the client', () => {
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
    for (const client of [
      createClient({ socket, keyPrefix: 'app:' }),
      createClientPool({ socket, keyPrefix: 'app:' }),
      createSentinel({ ...sentinel, keyPrefix: 'app:' }),
      createCluster({ rootNodes, keyPrefix: 'app:' }),
    ]) {
      expect(detectDriver(connecting(client)).keyPrefix).toBe('app:');
    }
  });

  it.each([
    ['ioredis 6', new Cluster(nodes, lazy)],
    ['ioredis 5', new Cluster5(nodes, lazy)],
    ['iovalkey', new ValkeyCluster(nodes, lazy)],
    ['a subclass', new (class Mine extends Cluster {})(nodes, lazy)],
  ])('recognises a Cluster of %s as ioredis', (_, client) => {
    expect(detectDriver(client)).toMatchObject({ library: 'ioredis', topology: 'cluster', keyPrefix: '' });
  });

  it.each([
    ['client', createClient({ socket })],
    ['pool', createClientPool({ socket })],
    ['Sentinel client', createSentinel(sentinel)],
    ['Cluster client', createCluster({ rootNodes })],
    ['client of version 5', redis5.createClient({ socket })],
    ['pool of version 5', redis5.createClientPool({ socket })],
    ['Sentinel client of version 5', redis5.createSentinel(sentinel)],
    ['Cluster client of version 5', redis5.createCluster({ rootNodes })],
  ])('refuses a node-redis %s that was never connected', (_, client) => {
    expect(refusal(client)).toBe(
      'This node-redis client is not connected: call "await client.connect()" before Holdfast.from(client)',
    );
  });

  it.each([
    ['Redis of ioredis 6', new Redis(lazy)],
    ['Redis of ioredis 5', new Redis5(lazy)],
    ['Redis of iovalkey', new Valkey(lazy)],
    ['Cluster of ioredis 6', new Cluster(nodes, lazy)],
    ['Cluster of ioredis 5', new Cluster5(nodes, lazy)],
    ['Cluster of iovalkey', new ValkeyCluster(nodes, lazy)],
  ])('refuses a %s that was disconnected for good', async (_, client) => {
    const ended = once(client, 'end');
    client.disconnect();
    await ended;
    expect(refusal(client)).toBe(
      'This ioredis client is not connected: call "await client.connect()" before Holdfast.from(client)',
    );
  });

  it.each([
    ['ioredis 4 or older', 'ioredis 5', new Redis4(lazy)],
    ['ioredis 4 or older', 'ioredis 5', new Redis4({ ...lazy, sentinels: nodes, name: 'main' })],
    ['ioredis 4 or older', 'ioredis 5', new Redis4.Cluster(nodes, lazy)],
    ['node-redis (redis) 4', 'redis 5', redis4.createClient({ socket })],
    ['node-redis (redis) 4', 'redis 5', redis4.createCluster({ rootNodes })],
  ])('refuses a client of %s and says that it needs %s', (version, needed, client) => {
    expect(refusal(client)).toBe(`This is a client of ${version}; Holdfast.from needs ${needed} or newer`);
  });

  it('takes a client that has an option left over from ioredis 4', () => {
    const leftover = { ...lazy, showFriendlyErrorStack: true };
    for (const client of [new Redis(leftover), new Redis5(leftover), new Valkey(leftover)]) {
      expect(detectDriver(client).library).toBe('ioredis');
    }
  });

  it('refuses a client that uses Sentinels to find a replica', () => {
    const replica = { ...lazy, sentinels: nodes, name: 'main', role: 'slave' } as const;
    for (const client of [new Redis(replica), new Redis5(replica), new Valkey(replica)]) {
      expect(refusal(client)).toContain('connects to a replica (role: "slave")');
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
    [detectDriver(new Redis(lazy)), 'an instance of OneServerDriver'],
    [createClient().legacy(), 'an instance of RedisLegacyClient'],
  ])('refuses %o and describes it', (client, got) => {
    const message = refusal(client);
    expect(message).toMatch(
      /^Expected a Redis or Cluster instance of ioredis 5 or 6 or of iovalkey, .*node-redis/,
    );
    expect(message.endsWith(`; got ${got}`)).toBe(true);
  });
});
