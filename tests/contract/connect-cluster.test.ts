/** A Cluster that we connect to ourselves: the contract of every driver, and what our settings promise. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import type { ClusterTarget } from '../../src/drivers/address.ts';
import { openDriver } from '../../src/drivers/connect.ts';
import type { Driver } from '../../src/drivers/driver.ts';
import { findFreePort } from '../../src/embedded/free-port.ts';
import { DriverError } from '../../src/errors.ts';
import { classify } from '../../src/outcome.ts';
import type { FaultProxy, TestServer } from '../../src/testing/index.ts';
import { startCluster, type TestCluster } from '../harness/cluster.ts';
import { randomName } from '../harness/names.ts';
import { evalOn } from '../harness/script-calls.ts';
import { describeWithProcess, ownProxy, ownServer } from '../harness/servers.ts';
import { ownCluster } from '../harness/topologies.ts';
import { eventually } from '../harness/wait.ts';
import { describeClusterDriver } from './parts/cluster-contract.ts';
import { describeDriver, failure, Listener } from './parts/driver-contract.ts';

const COUNT = "return redis.call('incr', KEYS[1])";

function at(ports: readonly number[]): ClusterTarget['cluster'] {
  return ports.map((port) => ({ host: '127.0.0.1', port }));
}

async function openHere(target: ClusterTarget, commandTimeoutMs = 5000) {
  const driver = await openDriver({ kind: 'cluster', target }, { commandTimeoutMs });
  return { driver, close: () => driver.close() };
}

async function open(target: ClusterTarget, commandTimeoutMs?: number): Promise<Driver> {
  const { driver, close } = await openHere(target, commandTimeoutMs);
  onTestFinished(close);
  return driver;
}

describeDriver({
  title: 'a Cluster of our own connecting',
  hasKeyPrefix: false,
  topology: 'cluster',
  connect: ({ port, username, password }) => openHere({ cluster: at([port]), username, password }),
});

describeClusterDriver({
  title: 'our own connections',
  connect: ({ ports, username, password, ca }) =>
    openHere({ cluster: at(ports), username, password, ...(ca !== undefined && { tls: { ca } }) }),
});

describe('connecting to a Cluster that is not available', () => {
  it('says where and why', async () => {
    const port = await findFreePort();
    const error = await failure(open({ cluster: at([port]), password: 'secret' }));
    expect(error).toBeInstanceOf(DriverError);
    const place = `127.0.0.1:${port}`;
    expect(error.message).toBe(
      `Cannot connect to the Cluster at ${place}: connect ECONNREFUSED ${place}. ` +
        'Check that the server runs, and that the client has its address',
    );
    expect(classify(error)).toBe('transient');
  });

  it('fails when nodes do not answer, and leaves nothing behind', async () => {
    const sockets = new Set<unknown>();
    const silent = createServer((socket) => {
      sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}));
      socket.resume();
    });
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as { port: number };
    const startedAt = performance.now();
    expect(await failure(open({ cluster: at([port]) }, 300))).toBeInstanceOf(DriverError);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    await eventually(() => expect(sockets.size).toBe(0));
  });

  describeWithProcess('with servers', () => {
    it('says that a server is not part of a Cluster', async () => {
      const { port } = await ownServer();
      const error = await failure(open({ cluster: at([port]) }));
      expect(error.message).toMatch(/: ERR This instance has cluster support disabled$/);
      expect(classify(error)).toBe('refused');
    });

    it('says that the password is wrong, without repeating it', async () => {
      const cluster = await ownCluster({ primaries: 1, replicasEach: 0 });
      const [node] = cluster.nodes as [TestServer];
      await node.command('CONFIG', 'SET', 'requirepass', 'right');
      const error = await failure(open({ cluster: cluster.addresses, password: 'wr0ng' }));
      expect(error.message).toMatch(/^Cannot connect to the Cluster at [\d.:]+: WRONGPASS /);
      expect(error.message).not.toContain('wr0ng');
      expect(JSON.stringify(error.cause)).not.toContain('wr0ng');
      expect(classify(error)).toBe('refused');
    });

    it('says that the nodes are not where the Cluster says they are', async () => {
      const cluster = await ownCluster({ primaries: 1, replicasEach: 0 });
      const [{ host, port }] = cluster.addresses as [{ host: string; port: number }];
      const nowhere = await findFreePort();
      const natMap = { [`${host}:${port}`]: { host, port: nowhere } };
      const error = await failure(open({ cluster: [{ host, port }], natMap }, 1000));
      expect(error.message).toContain(
        `the Cluster lists 127.0.0.1:${nowhere}, which the client cannot reach`,
      );
      expect(error.message).toContain('natMap');
    });

    it('needs only the nodes that it can reach', async () => {
      const args = ['--cluster-require-full-coverage', 'no'];
      const cluster = await ownCluster({ primaries: 5, replicasEach: 0, args });
      const [alive, dead, frozen] = cluster.nodes as [TestServer, TestServer, TestServer];
      const key = await nameOn(cluster, alive);
      await dead.kill();
      await frozen.pause();
      onTestFinished(() => frozen.resume());
      const driver = await open({ cluster: cluster.addresses }, 1500);
      for (let round = 0; round < 20; round += 1) expect(await evalOn(driver, 'return 1', [], [])).toBe(1);
      await eventually(async () => expect(await evalOn(driver, COUNT, [key], [])).toBe(1));
    });
  });
});

async function nameOn(cluster: TestCluster, primary: TestServer): Promise<string> {
  for (;;) {
    const name = randomName();
    if ((await cluster.primaryOf(name)) === primary) return name;
  }
}

describeWithProcess('a Cluster client made by Holdfast.connect', () => {
  let cluster: TestCluster;
  let here: TestServer;
  let there: TestServer;

  beforeAll(async () => {
    const binary = inject('serverBinary');
    cluster = await startCluster({ primaries: 2, replicasEach: 0, ...(binary !== null && { binary }) });
    [here, there] = cluster.nodes as [TestServer, TestServer];
  });

  afterAll(() => cluster.close());

  /** A Cluster whose first node is reached through a proxy. */
  async function throughProxy(commandTimeoutMs?: number): Promise<{ driver: Driver; proxy: FaultProxy }> {
    const proxy = await ownProxy(here);
    const natMap = (address: string) =>
      address === `${here.host}:${here.port}` ? { host: proxy.host, port: proxy.port } : null;
    const driver = await open({ cluster: cluster.addresses, natMap }, commandTimeoutMs);
    return { driver, proxy };
  }

  async function connections(): Promise<string[]> {
    const lists = await Promise.all(cluster.nodes.map((node) => node.command('CLIENT', 'LIST')));
    return lists.join('\n').match(/ name=\S*holdfast/g) ?? [];
  }

  it('runs a script once when its reply is lost, and rejects at once with an unknown outcome', async () => {
    const { driver, proxy } = await throughProxy();
    const key = await nameOn(cluster, here);
    const swallowed = proxy.swallowReply(/eval/i);
    const error = await failure(evalOn(driver, COUNT, [key], []));
    await swallowed;
    expect(classify(error)).toBe('unknown');
    await eventually(async () => expect(await evalOn(driver, COUNT, [key], [])).toBe(2));
  });

  it('fails at once, certainly unsent, for a node that is not connected', async () => {
    const { driver, proxy } = await throughProxy();
    const key = await nameOn(cluster, here);
    const other = await nameOn(cluster, there);
    expect(await evalOn(driver, COUNT, [key], [])).toBe(1);
    await proxy.close();
    const outcomes = new Set<unknown>();
    // What was under way may break in the middle; from then on nothing leaves.
    await eventually(async () => {
      const outcome = await evalOn(driver, COUNT, [key], []).catch(classify);
      return outcome === 'transient';
    });
    for (let round = 0; round < 20; round += 1) {
      outcomes.add(await evalOn(driver, COUNT, [key], []).catch(classify));
      expect(await evalOn(driver, COUNT, [other], [])).toBe(round + 1);
    }
    expect([...outcomes]).toEqual(['transient']);
    expect(await here.command('GET', key)).toBe('1');
  });

  it('replaces a connection that gets no answers', async () => {
    const { driver, proxy } = await throughProxy(300);
    const key = await nameOn(cluster, here);
    proxy.blackhole();
    expect(classify(await failure(evalOn(driver, COUNT, [key], [])))).toBe('unknown');
    await proxy.heal();
    await eventually(() => evalOn(driver, COUNT, [key], []));
  });

  it('asks a node without a connection, and does not crash', async () => {
    const driver = await open({ cluster: cluster.addresses });
    const key = await nameOn(cluster, here);
    expect(await evalOn(driver, COUNT, [key], [])).toBe(1);
    const move = await cluster.beginMove(cluster.slotOf(key), there);
    onTestFinished(() => move.finish());
    await move.migrate(key);
    await there.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    // The first try may only get the node connected: nothing is queued.
    await eventually(async () => expect(await evalOn(driver, COUNT, [key], [])).toBe(2));
  });

  it('reports that a script on both sides of a slot move did not run', async () => {
    const driver = await open({ cluster: cluster.addresses });
    const key = await nameOn(cluster, here);
    const keys = [`{${key}}:1`, `{${key}}:2`];
    for (const one of keys) await evalOn(driver, COUNT, [one], []);
    const move = await cluster.beginMove(cluster.slotOf(key), there);
    await move.migrate(keys[0] as string);
    const both = "redis.call('incr', KEYS[1]) return redis.call('incr', KEYS[2])";
    const error = await failure(evalOn(driver, both, keys, []));
    // The one node says that the other should be asked, the other that it is too early: the last word counts.
    expect(error.message).toMatch(/^(?:TRYAGAIN|MOVED) /);
    expect(classify(error)).toBe('transient');
    await move.finish();
    expect(await evalOn(driver, both, keys, [])).toBe(2);
  });

  it('recovers after it has lost every node', async () => {
    const own = await ownCluster({ primaries: 1, replicasEach: 0 });
    const [node] = own.nodes as [TestServer];
    const driver = await open({ cluster: own.addresses });
    expect(await evalOn(driver, COUNT, ['key'], [])).toBe(1);
    await node.kill();
    await eventually(async () =>
      expect(await evalOn(driver, COUNT, ['key'], []).catch(classify)).toBe('transient'),
    );
    await node.restart();
    // A node finds the Cluster in order two seconds after it has started.
    await eventually(async () => expect(await evalOn(driver, COUNT, ['key'], [])).toBe(1), {
      withinMs: 15_000,
    });
  });

  it('leaves neither connections nor timers when it is closed', async () => {
    const alive = () => process.getActiveResourcesInfo().filter((kind) => /TCP|Timeout/.test(kind));
    // What earlier tests closed may take a moment.
    await eventually(() => expect(alive()).toEqual([]));
    const { driver, close } = await openHere({ cluster: cluster.addresses });
    const connection = await driver.openConnection('', new Listener());
    await connection.ping();
    const key = await nameOn(cluster, here);
    const answer = evalOn(driver, COUNT, [key], []);
    expect((await connections()).length).toBeGreaterThanOrEqual(3);
    await close();
    expect(await answer).toBe(1);
    expect(await connections()).toEqual([]);
    await eventually(() => expect(alive()).toEqual([]));
    expect(classify(await failure(evalOn(driver, 'return 1', [], [])))).toBe('transient');
    expect(classify(await failure(driver.openConnection('', new Listener())))).toBe('transient');
  });

  it('closes within a bound when a node is frozen', async () => {
    const { close } = await openHere({ cluster: cluster.addresses });
    await here.pause();
    const startedAt = performance.now();
    await close();
    const tookMs = performance.now() - startedAt;
    await here.resume();
    expect(tookMs).toBeLessThan(2000);
    await eventually(async () => expect(await connections()).toEqual([]));
  });
});
