/**
 * What every driver must do where the servers are a Cluster, on real ones: nodes of a test's own, whose slots
 * move and whose primaries fail over. What holds for one server too is in `driver-contract.ts`.
 */

import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { SystemClock } from '../../../src/clock.ts';
import { withCallTimeout } from '../../../src/drivers/call-timeout.ts';
import type { Connection, Driver } from '../../../src/drivers/driver.ts';
import { classify } from '../../../src/outcome.ts';
import type { TestServer } from '../../../src/testing/server.ts';
import { type FailoverKind, startCluster, type TestCluster } from '../../harness/cluster.ts';
import { randomName } from '../../harness/names.ts';
import { evalOn } from '../../harness/script-calls.ts';
import { describeWithProcess } from '../../harness/servers.ts';
import { ownCluster, ownTlsServer } from '../../harness/topologies.ts';
import { eventually } from '../../harness/wait.ts';
import { failure, Listener } from './driver-contract.ts';

/** How a test wants its client connected. */
export interface ClusterSettings {
  /** Some nodes, on 127.0.0.1. */
  readonly ports: readonly number[];
  readonly username?: string;
  readonly password?: string;
  /** What to trust, where the nodes speak TLS; PEM. */
  readonly ca?: string;
}

export interface ClusterContext {
  readonly title: string;
  /** Whether the library keeps what it learns from a redirection to itself, as Valkey GLIDE does. */
  readonly learnsUnseen?: boolean;
  connect(settings: ClusterSettings): Promise<{ readonly driver: Driver; close(): Promise<void> }>;
}

/** The port of the server that runs it. */
const PORT = "return tonumber(string.match(redis.call('info', 'server'), 'tcp_port:(%d+)'))";
const COUNT = "return redis.call('incr', KEYS[1])";
const CLUSTER_MS = 60_000;

const addressOf = ({ host, port }: TestServer) => `${host}:${port}`;

export function describeClusterDriver(context: ClusterContext): void {
  const closers: (() => Promise<unknown>)[] = [];

  async function connect(cluster: TestCluster): Promise<Driver> {
    const { driver, close } = await context.connect({ ports: cluster.addresses.map(({ port }) => port) });
    closers.push(close);
    return driver;
  }

  async function open(driver: Driver, node: string): Promise<{ connection: Connection; listener: Listener }> {
    const listener = new Listener();
    const connection = await driver.openConnection(node, listener);
    closers.push(async () => connection.destroy());
    return { connection, listener };
  }

  /** Where a driver says that a key is at home, once it had to find out. */
  async function homeOf(driver: Driver, key: string): Promise<string> {
    if (context.learnsUnseen === true) await driver.rediscover(key);
    return driver.nodeOf(key);
  }

  /** A name that has its home on that primary. */
  async function nameOn(cluster: TestCluster, primary: TestServer): Promise<string> {
    for (;;) {
      const name = randomName();
      if ((await cluster.primaryOf(name)) === primary) return name;
    }
  }

  describeWithProcess(`cluster contract: ${context.title}`, () => {
    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    describe('three primaries', () => {
      let cluster: TestCluster;

      beforeAll(async () => {
        const binary = inject('serverBinary');
        cluster = await startCluster({ replicasEach: 0, ...(binary !== null && { binary }) });
      });

      afterAll(() => cluster.close());

      it('runs a script on the node of its key, and names that node', async () => {
        const driver = await connect(cluster);
        expect(driver.topology).toBe('cluster');
        expect([...driver.nodes()].sort()).toEqual(cluster.nodes.map(addressOf).sort());
        for (const node of cluster.nodes) {
          const key = await nameOn(cluster, node);
          expect(await evalOn(driver, PORT, [key], [])).toBe(node.port);
          expect(driver.nodeOf(key)).toBe(addressOf(node));
          expect(await evalOn(driver, COUNT, [key], [])).toBe(1);
          expect(await node.command('GET', key)).toBe('1');
        }
      });

      it('runs a script without keys on some primary', async () => {
        const driver = await connect(cluster);
        const ports = cluster.nodes.map(({ port }) => port);
        expect(ports).toContain(await evalOn(driver, PORT, [], []));
      });

      it('scans all primaries', async () => {
        const driver = await connect(cluster);
        const family = randomName('scan');
        const keys = Array.from({ length: 60 }, (_, index) => `${family}:${index}`);
        for (const key of keys) await evalOn(driver, COUNT, [key], []);
        const found: string[] = [];
        for await (const page of driver.scan(`${family}:*`)) found.push(...page);
        expect(found.sort()).toEqual(keys.sort());
      });

      it('receives a sharded message from the primary of the channel', async () => {
        const driver = await connect(cluster);
        for (const node of cluster.nodes) {
          const channel = await nameOn(cluster, node);
          const { connection, listener } = await open(driver, driver.nodeOf(channel));
          await connection.subscribe(channel, 'sharded');
          expect(await node.command('SPUBLISH', channel, 'wake')).toBe(1);
          await expect.poll(() => listener.messages).toEqual([`${channel}=wake`]);
          await connection.unsubscribe(channel, 'sharded');
          expect(await node.command('SPUBLISH', channel, 'gone')).toBe(0);
          await connection.ping();
          expect(listener.downs).toEqual([]);
        }
      });

      it('refuses a channel of another node, and stays usable', async () => {
        const driver = await connect(cluster);
        const [here, there] = cluster.nodes as [TestServer, TestServer];
        const [own, foreign] = [await nameOn(cluster, here), await nameOn(cluster, there)];
        const { connection, listener } = await open(driver, addressOf(here));
        const [refusal] = await Promise.all([
          failure(connection.subscribe(foreign, 'sharded')),
          connection.subscribe(own, 'sharded'),
        ]);
        expect(refusal.message).toMatch(/^MOVED /);
        expect(classify(refusal)).toBe('transient');
        await connection.ping();
        expect(await here.command('SPUBLISH', own, 'wake')).toBe(1);
        await expect.poll(() => listener.messages).toEqual([`${own}=wake`]);
        // Nobody took it upon himself to subscribe where the channel is.
        expect(await there.command('SPUBLISH', foreign, 'wake')).toBe(0);
        expect(listener.downs).toEqual([]);
      });

      it('opens a connection to any known primary, and to no other node', async () => {
        const driver = await connect(cluster);
        const { connection } = await open(driver, '');
        const ports = cluster.nodes.map(({ port }) => port);
        expect(ports).toContain(await connection.send(['EVAL', PORT, '0']));
        const error = await failure(driver.openConnection('127.0.0.1:1', new Listener()));
        expect(classify(error)).toBe('transient');
      });
    });

    describe('a slot that moves', () => {
      let cluster: TestCluster;
      let from: TestServer;
      let to: TestServer;
      let key: string;

      beforeAll(async () => {
        const binary = inject('serverBinary');
        cluster = await startCluster({ primaries: 2, replicasEach: 0, ...(binary !== null && { binary }) });
        [from, to] = cluster.nodes as [TestServer, TestServer];
      });

      afterAll(() => cluster.close());

      async function connectAt(): Promise<Driver> {
        const driver = await connect(cluster);
        key = await nameOn(cluster, from);
        expect(await evalOn(driver, COUNT, [key], [])).toBe(1);
        expect(driver.nodeOf(key)).toBe(addressOf(from));
        return driver;
      }

      it('is followed with the next script', async () => {
        const driver = await connectAt();
        await cluster.moveSlot(cluster.slotOf(key), to);
        expect(await evalOn(driver, COUNT, [key], [])).toBe(2);
        await expect.poll(() => homeOf(driver, key)).toBe(addressOf(to));
        await expect.poll(() => [...driver.nodes()].sort()).toEqual(cluster.nodes.map(addressOf).sort());
      });

      it('is followed key by key while it moves', async () => {
        const driver = await connectAt();
        const move = await cluster.beginMove(cluster.slotOf(key), to);
        await move.migrate(key);
        expect(await evalOn(driver, COUNT, [key], [])).toBe(2);
        expect(await evalOn(driver, PORT, [key], [])).toBe(to.port);
        expect(driver.nodeOf(key)).toBe(addressOf(from));
        await expect(from.command('GET', key)).rejects.toThrow(/^ASK /);
        await move.finish();
        expect(await evalOn(driver, COUNT, [key], [])).toBe(3);
        await expect.poll(() => homeOf(driver, key)).toBe(addressOf(to));
      });

      it('is found by rediscover() without a script', async () => {
        const driver = await connectAt();
        await cluster.moveSlot(cluster.slotOf(key), to);
        await driver.rediscover(key);
        expect(driver.nodeOf(key)).toBe(addressOf(to));
      });

      it('moves its channels, and the connection reports it', async () => {
        const driver = await connectAt();
        const { connection, listener } = await open(driver, addressOf(from));
        await connection.subscribe(key, 'sharded');
        await cluster.moveSlot(cluster.slotOf(key), to);
        await expect.poll(() => listener.downs).toHaveLength(1);
        await failure(connection.ping());
        // Not subscribed anew by anybody but us.
        expect(await to.command('SPUBLISH', key, 'unheard')).toBe(0);
        await driver.rediscover(key);
        const next = await open(driver, driver.nodeOf(key));
        await next.connection.subscribe(key, 'sharded');
        expect(await to.command('SPUBLISH', key, 'heard')).toBe(1);
        await expect.poll(() => next.listener.messages).toEqual([`${key}=heard`]);
        expect(listener.messages).toEqual([]);
        expect(listener.downs).toHaveLength(1);
      });
    });

    describe('a failover', () => {
      async function failOver(
        cluster: TestCluster,
        driver: Driver,
        change: (key: string, from: TestServer) => Promise<TestServer>,
      ): Promise<void> {
        const bounded = withCallTimeout(driver, new SystemClock(), 1_000);
        const key = randomName();
        const from = await cluster.primaryOf(key);
        expect(await evalOn(driver, COUNT, [key], [])).toBe(1);
        const { connection, listener } = await open(driver, driver.nodeOf(key));
        await connection.subscribe(key, 'sharded');
        const to = await change(key, from);
        expect(to).not.toBe(from);
        await eventually(async () => expect(await evalOn(bounded, PORT, [key], [])).toBe(to.port), {
          withinMs: 20_000,
        });
        await eventually(async () => expect(await homeOf(driver, key)).toBe(addressOf(to)));
        await eventually(() => expect(driver.nodes()).not.toContain(addressOf(from)));
        await eventually(() => expect(listener.downs).toHaveLength(1));
        const next = await open(driver, driver.nodeOf(key));
        await next.connection.subscribe(key, 'sharded');
        expect(await to.command('SPUBLISH', key, 'wake')).toBe(1);
        await expect.poll(() => next.listener.messages).toEqual([`${key}=wake`]);
        const error = await failure(driver.openConnection(addressOf(from), new Listener()));
        expect(classify(error)).toBe('transient');
      }

      it(
        'is followed, whether or not the old primary agrees',
        async () => {
          const cluster = await ownCluster();
          const driver = await connect(cluster);
          for (const kind of ['graceful', 'force', 'takeover'] satisfies FailoverKind[]) {
            await failOver(cluster, driver, (key) => cluster.failover(key, kind));
          }
        },
        CLUSTER_MS,
      );

      it(
        'is followed when the primary was killed',
        async () => {
          const cluster = await ownCluster();
          const driver = await connect(cluster);
          await failOver(cluster, driver, async (key, from) => {
            await from.kill();
            return cluster.whenFailedOver(key, from);
          });
        },
        CLUSTER_MS,
      );
    });

    it('inherits TLS and the user for its own connections', async () => {
      const args = ['--cluster-enabled', 'yes', '--tls-cluster', 'yes', '--cluster-announce-ip', '127.0.0.1'];
      const { server, port, ca } = await ownTlsServer({ args });
      await server.command('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383);
      await eventually(async () =>
        expect(String(await server.command('CLUSTER', 'INFO'))).toContain('cluster_state:ok'),
      );
      await server.command('ACL', 'SETUSER', 'alice', 'on', '>wonderland', '~*', '&*', '+@all');
      const secret = { username: 'alice', password: 'wonderland' };
      const { driver, close } = await context.connect({ ports: [port], ca, ...secret });
      closers.push(close);
      const key = randomName();
      expect(await evalOn(driver, COUNT, [key], [])).toBe(1);
      const { connection, listener } = await open(driver, driver.nodeOf(key));
      await connection.subscribe(key, 'sharded');
      const list = String(await server.command('CLIENT', 'LIST', 'TYPE', 'pubsub'));
      expect(list).toMatch(new RegExp(` laddr=127\\.0\\.0\\.1:${port} .* user=alice `));
      expect(await server.command('SPUBLISH', key, 'wake')).toBe(1);
      await expect.poll(() => listener.messages).toEqual([`${key}=wake`]);
    });
  });
}
