/** What only a Cluster of ioredis or iovalkey can get wrong, for every version of them. */

import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import type { Driver } from '../../../src/drivers/driver.ts';
import { type IoredisCluster, ioredisClusterDriver } from '../../../src/drivers/ioredis/cluster.ts';
import type { IoredisClient } from '../../../src/drivers/ioredis/connection.ts';
import { classify } from '../../../src/outcome.ts';
import type { FaultProxy, TestServer } from '../../../src/testing/index.ts';
import { startCluster, type TestCluster } from '../../harness/cluster.ts';
import { randomName } from '../../harness/names.ts';
import { evalOn } from '../../harness/script-calls.ts';
import { describeWithProcess, ownProxy } from '../../harness/servers.ts';
import { ownCluster } from '../../harness/topologies.ts';
import { eventually } from '../../harness/wait.ts';
import { failure, Listener } from './driver-contract.ts';

type Client = IoredisCluster & { nodes(role: 'master' | 'slave'): IoredisClient[]; disconnect(): void };

/** The settings used here, which the libraries share. */
interface Options {
  readonly lazyConnect?: boolean;
  readonly enableOfflineQueue?: boolean;
  readonly scaleReads?: 'slave';
  readonly natMap?: Record<string, { host: string; port: number }>;
}

export interface IoredisClusterContext {
  readonly title: string;
  make(ports: readonly number[], options?: Options): Client;
}

const PORT = "return tonumber(string.match(redis.call('info', 'server'), 'tcp_port:(%d+)'))";
const COUNT = "return redis.call('incr', KEYS[1])";

const addressOf = ({ host, port }: { host: string; port: number }) => `${host}:${port}`;

export function describeIoredisCluster(context: IoredisClusterContext): void {
  describeWithProcess(`a Cluster of ${context.title}`, () => {
    let cluster: TestCluster;
    let from: TestServer;
    let to: TestServer;

    beforeAll(async () => {
      const binary = inject('serverBinary');
      cluster = await startCluster({ primaries: 2, replicasEach: 0, ...(binary !== null && { binary }) });
      [from, to] = cluster.nodes as [TestServer, TestServer];
    });

    afterAll(() => cluster.close());

    function make(options: Options = {}, { addresses } = cluster): { client: Client; driver: Driver } {
      const client = context.make(
        addresses.map(({ port }) => port),
        options,
      );
      onTestFinished(() => client.disconnect());
      return { client, driver: ioredisClusterDriver(client) };
    }

    /** Names on the first node, each in a slot of its own. */
    async function namesHere(count: number): Promise<string[]> {
      const names: string[] = [];
      while (names.length < count) {
        const name = randomName();
        if ((await cluster.primaryOf(name)) === from) names.push(name);
      }
      return names;
    }

    /** A proxy before each node, which the client takes for the node. */
    async function throughProxies(): Promise<{ driver: Driver; here: FaultProxy; there: FaultProxy }> {
      const [here, there] = [await ownProxy(from), await ownProxy(to)];
      const at = ({ host, port }: FaultProxy) => ({ host, port });
      const natMap = { [addressOf(from)]: at(here), [addressOf(to)]: at(there) };
      const { driver } = make({ natMap });
      await evalOn(driver, 'return 1', [], []);
      return { driver, here, there };
    }

    it('uses the natMap for the nodes, also for its own connections', async () => {
      const { driver, here, there } = await throughProxies();
      const [key = ''] = await namesHere(1);
      expect([...driver.nodes()].sort()).toEqual([addressOf(here), addressOf(there)].sort());
      expect(driver.nodeOf(key)).toBe(addressOf(here));
      const listener = new Listener();
      const connection = await driver.openConnection(driver.nodeOf(key), listener);
      onTestFinished(() => connection.destroy());
      expect(await connection.send(['EVAL', PORT, '0'])).toBe(from.port);
      here.dropConnections();
      await eventually(() => expect(listener.downs).toHaveLength(1));
      // The library has forgotten a node whose connection is gone.
      const next = await driver.openConnection(addressOf(here), new Listener());
      onTestFinished(() => next.destroy());
      expect(await next.send(['EVAL', PORT, '0'])).toBe(from.port);
      await cluster.moveSlot(cluster.slotOf(key), to);
      await eventually(async () => expect(await evalOn(driver, PORT, [key], [])).toBe(to.port));
      await driver.rediscover(key);
      expect(driver.nodeOf(key)).toBe(addressOf(there));
    });

    it('reports a moved channel while it waits for another answer', async () => {
      const { driver, here } = await throughProxies();
      const [moving = '', staying = ''] = await namesHere(2);
      const listener = new Listener();
      const connection = await driver.openConnection(driver.nodeOf(moving), listener);
      onTestFinished(() => connection.destroy());
      await connection.subscribe(moving, 'sharded');
      await connection.subscribe(staying, 'sharded');
      const ping = here.holdRequest(/^PING/);
      // Whether it fails or is told apart depends on the library; the loss must be noticed either way.
      const answered = connection.ping().catch(() => undefined);
      await ping.held;
      await cluster.moveSlot(cluster.slotOf(moving), to);
      ping.release();
      await answered;
      await eventually(() => expect(listener.downs).toHaveLength(1));
    });

    it('connects with the first command if it is lazy', async () => {
      const { driver } = make({ lazyConnect: true });
      expect(driver.nodeOf('key')).toBe('');
      expect(driver.nodes()).toEqual(['']);
      const connection = await driver.openConnection('', new Listener());
      onTestFinished(() => connection.destroy());
      await connection.ping();
      expect([...driver.nodes()].sort()).toEqual(cluster.nodes.map(addressOf).sort());
      const other = make({ lazyConnect: true });
      expect(await evalOn(other.driver, COUNT, [randomName()], [])).toBe(1);
      const third = make({ lazyConnect: true });
      for await (const page of third.driver.scan(randomName())) expect(page).toEqual([]);
    });

    it('reports that a script was certainly not sent if the client does not queue', async () => {
      const { driver } = make({ lazyConnect: true, enableOfflineQueue: false });
      const key = randomName();
      expect(classify(await failure(evalOn(driver, COUNT, [key], [])))).toBe('transient');
      expect(classify(await failure(driver.openConnection('', new Listener())))).toBe('transient');
      await eventually(() => evalOn(driver, COUNT, [randomName()], []));
      expect(await (await cluster.primaryOf(key)).command('EXISTS', key)).toBe(0);
    });

    describe('with replicas', () => {
      it('never asks a replica, even after it has lost every primary', async () => {
        const replicated = await ownCluster({ primaries: 1, replicasEach: 1 });
        const [primary] = replicated.nodes as [TestServer];
        const key = randomName();
        await primary.command('SET', `other:${key}`, 'what makes the replica worth mentioning');
        await eventually(async () => {
          const [range] = (await primary.command('CLUSTER', 'SLOTS')) as unknown[][];
          expect(range).toHaveLength(4);
        });
        const { client, driver } = make({ scaleReads: 'slave' }, replicated);
        const ask = () => evalOn(driver, PORT, [key], []).catch(() => 'no answer');
        expect(await ask()).toBe(primary.port);
        expect(client.nodes('slave')).toHaveLength(1);
        for (let round = 0; round < 5; round += 1) {
          await primary.command('CLIENT', 'KILL', 'TYPE', 'normal');
          const answers = new Set<unknown>();
          await eventually(async () => {
            const answer = await ask();
            answers.add(answer);
            return answer === primary.port;
          });
          answers.delete('no answer');
          expect([...answers]).toEqual([primary.port]);
        }
      });
    });
  });
}
