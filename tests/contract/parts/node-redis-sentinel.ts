/**
 * The Sentinel clients of node-redis: the contracts, and what only their driver has to see to. A file for each
 * version calls it with that version's `createSentinel`.
 */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type NodeRedisSentinel, nodeRedisSentinelDriver } from '../../../src/drivers/node-redis/sentinel.ts';
import { classify } from '../../../src/outcome.ts';
import type { TestServer } from '../../../src/testing/index.ts';
import { evalOn } from '../../harness/script-calls.ts';
import { describeWithProcess, ownProxy } from '../../harness/servers.ts';
import { ownSentinels } from '../../harness/topologies.ts';
import { describeDriver, failure, Listener } from './driver-contract.ts';
import { describeSentinelDriver } from './sentinel-contract.ts';

interface Options {
  name: string;
  sentinelRootNodes: { host: string; port: number }[];
  nodeClientOptions?: {
    username?: string;
    password?: string;
    database?: number;
    socket?: { tls: true; ca: string } | { reconnectStrategy: false };
  };
  nodeAddressMap?: Record<string, { host: string; port: number }>;
  RESP: 2 | 3;
  keyPrefix?: string;
  masterPoolSize?: number;
  maxCommandRediscovers?: number;
  commandOptions?: { typeMapping: object };
}

type UserSentinel = NodeRedisSentinel & {
  on(event: 'error', listener: () => void): unknown;
  eventNames(): (string | symbol)[];
  listenerCount(event: string | symbol): number;
  sendCommand(isReadonly: boolean, args: string[]): Promise<unknown>;
  acquire(): Promise<{ release(): unknown }>;
  getMasterNode(): { port: number } | undefined;
  connect(): Promise<unknown>;
  destroy(): Promise<void>;
};

export interface NodeRedisSentinelContext {
  readonly version: 5 | 6;
  /** A type mapping after which neither text nor numbers come as such. */
  readonly typeMapping: object;
  create(options: Options): UserSentinel;
}

const at = (port: number) => ({ host: '127.0.0.1', port });

export function describeNodeRedisSentinel({ version, typeMapping, create }: NodeRedisSentinelContext): void {
  async function connect(given: Options) {
    const sentinel = create(given);
    sentinel.on('error', () => {});
    await sentinel.connect();
    const user = {
      eventNames: () => sentinel.eventNames(),
      listenerCount: (event: string | symbol) => sentinel.listenerCount(event),
      ping: () => sentinel.sendCommand(true, ['PING']),
    };
    const driver = nodeRedisSentinelDriver(sentinel);
    return { driver, user, sentinel, close: () => sentinel.destroy() };
  }

  for (const more of [
    { RESP: 3 },
    { RESP: 2, masterPoolSize: 3, commandOptions: { typeMapping } },
  ] as const) {
    describeDriver({
      waitsForDrain: true,
      title: `node-redis ${version} Sentinel on RESP${more.RESP}`,
      hasKeyPrefix: version === 6,
      topology: 'sentinel',
      connect: ({ sentinel, username, password, db, keyPrefix }) =>
        connect({
          name: sentinel?.name ?? '',
          sentinelRootNodes: [at(sentinel?.port ?? 0)],
          nodeClientOptions: {
            ...(username !== undefined && { username }),
            ...(password !== undefined && { password }),
            ...(db !== undefined && { database: db }),
          },
          ...(keyPrefix !== undefined && { keyPrefix }),
          ...more,
        }),
    });
  }

  for (const RESP of [2, 3] as const) {
    describeSentinelDriver({
      title: `node-redis ${version} on RESP${RESP}`,
      connect: ({ name, ports, username, password, tls }) =>
        connect({
          name,
          sentinelRootNodes: ports.map(at),
          nodeClientOptions: {
            ...(username !== undefined && { username }),
            ...(password !== undefined && { password }),
            ...(tls !== undefined && { socket: { tls: true, ca: tls.ca } }),
          },
          ...(tls !== undefined && { nodeAddressMap: { [`127.0.0.1:${tls.insteadOf}`]: at(tls.port) } }),
          RESP,
        }),
    });
  }

  describeWithProcess(`node-redis ${version} Sentinel clients`, () => {
    async function ownDriver(more: { masterPoolSize?: number; proxied?: boolean } = {}) {
      const { masterPoolSize = 1, proxied = false } = more;
      const watched = await ownSentinels({ sentinels: 1, replicas: 0 });
      const primary = await watched.primary();
      const proxy = await ownProxy(primary);
      const { driver, sentinel, close } = await connect({
        name: watched.name,
        sentinelRootNodes: watched.addresses,
        RESP: 3,
        masterPoolSize,
        ...(proxied && { nodeAddressMap: { [`127.0.0.1:${primary.port}`]: at(proxy.port) } }),
      });
      onTestFinished(close);
      return { driver, sentinel, proxy };
    }

    it('leaves the library all its clients, however many scripts run at once', async () => {
      const { driver, sentinel } = await ownDriver({ masterPoolSize: 2 });
      const count = "return redis.call('incr', KEYS[1])";
      const counts = await Promise.all(Array.from({ length: 10 }, () => evalOn(driver, count, ['many'], [])));
      expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      const leases = [await sentinel.acquire(), await sentinel.acquire()];
      for (const lease of leases) await lease.release();
    });

    it('rejects every command of a client that failed to connect', async () => {
      const watched = await ownSentinels({ sentinels: 1, replicas: 0 });
      const { port } = await watched.primary();
      const sentinel = create({
        name: watched.name,
        sentinelRootNodes: watched.addresses,
        nodeClientOptions: { socket: { reconnectStrategy: false } },
        // Nobody listens there.
        nodeAddressMap: { [`127.0.0.1:${port}`]: at(1) },
        maxCommandRediscovers: 0,
        RESP: 3,
      });
      sentinel.on('error', () => {});
      onTestFinished(() => sentinel.destroy());
      vi.spyOn(console, 'log').mockReturnValue();
      onTestFinished(() => void vi.restoreAllMocks());
      await failure(sentinel.connect());
      const error = await failure(evalOn(nodeRedisSentinelDriver(sentinel), 'return 1', [], []));
      expect(classify(error)).toBe('transient');
    });

    it('makes the library look again when its server has silently become a replica', async () => {
      const watched = await ownSentinels();
      const [first] = watched.sentinels as [TestServer];
      const proxy = await ownProxy(first);
      const { driver, sentinel, close } = await connect({
        name: watched.name,
        sentinelRootNodes: [at(proxy.port)],
        RESP: 3,
      });
      onTestFinished(close);
      const write = "redis.call('set', KEYS[1], '1') return 'written'";
      expect(await evalOn(driver, write, ['key'], [])).toBe('written');
      const former = await watched.primary();
      proxy.blackholeWhere('PSUBSCRIBE');
      const primary = await watched.failover();
      await watched.whenSettled();
      await expect.poll(() => sentinel.getMasterNode()?.port).toBe(former.port);
      expect(await evalOn(driver, write, ['key'], [])).toBe('written');
      expect(sentinel.getMasterNode()?.port).toBe(primary.port);
    });

    it('does not send a script again whose answer was lost', async () => {
      const { driver, proxy } = await ownDriver({ proxied: true });
      const count = "return redis.call('incr', KEYS[1])";
      expect(await evalOn(driver, count, ['lost'], [])).toBe(1);
      const swallowed = proxy.swallowReply('incr');
      expect(classify(await failure(evalOn(driver, count, ['lost'], [])))).toBe('unknown');
      await swallowed;
      expect(await evalOn(driver, count, ['lost'], [])).toBe(3);
    });
  });

  describe(`a node-redis ${version} Sentinel client that was never connected`, () => {
    it('rejects with the message of the library, before anything is sent', async () => {
      const driver = nodeRedisSentinelDriver(create({ name: 'x', sentinelRootNodes: [at(1)], RESP: 3 }));
      const calls = [evalOn(driver, 'return 1', [], []), driver.openConnection('', new Listener())];
      for (const call of calls) {
        const error = await failure(call);
        expect(error.message).toBe('The client is closed');
        expect(classify(error)).toBe('transient');
      }
    });
  });
}
