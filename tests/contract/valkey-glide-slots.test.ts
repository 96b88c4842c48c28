/** What only the driver for a GlideClusterClient has to see to. */

import { GlideClusterClient } from '@valkey/valkey-glide';
import { expect, it, onTestFinished } from 'vitest';
import type { Driver } from '../../src/drivers/driver.ts';
import { glideClusterDriver } from '../../src/drivers/valkey-glide/cluster.ts';
import { classify } from '../../src/outcome.ts';
import type { FaultProxy } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { evalOn } from '../harness/script-calls.ts';
import { describeWithProcess, ownProxy, sharedCluster } from '../harness/servers.ts';
import { ownCluster } from '../harness/topologies.ts';
import { glideConfig } from '../harness/valkey-glide.ts';
import { failure, Listener } from './parts/driver-contract.ts';

type Config = Parameters<typeof GlideClusterClient.createClient>[0];

interface Address {
  readonly host: string;
  readonly port: number;
}

async function open([first]: readonly Address[], more: Partial<Config> = {}): Promise<Driver> {
  if (first === undefined) return expect.unreachable('a Cluster has nodes');
  const config: Config = { ...glideConfig(first), ...more };
  const client = await GlideClusterClient.createClient(config);
  const driver = glideClusterDriver(client, config);
  onTestFinished(async () => {
    await driver.close();
    client.close();
  });
  return driver;
}

describeWithProcess('a Cluster behind Valkey GLIDE', () => {
  it.each([
    ['a script', (driver: Driver) => evalOn(driver, 'return 1', [], [])],
    ['a look at the nodes', async (driver: Driver) => expect(driver.nodes()).toEqual([''])],
    ['a look for a key', async (driver: Driver) => expect(driver.nodeOf('any')).toBe('')],
  ])('is asked for its primaries at first use, by %s', async (_, use) => {
    const { addresses } = await sharedCluster();
    const driver = await open(addresses);
    await use(driver);
    const names = addresses.map(({ host, port }) => `${host}:${port}`);
    await expect.poll(() => [...driver.nodes()].sort()).toEqual(names.sort());
    expect(names).toContain(driver.nodeOf('any'));
  });

  it('runs a script without keys on a primary, even if the client reads from replicas', async () => {
    const { addresses } = await ownCluster({ primaries: 1, replicasEach: 1 });
    const driver = await open(addresses, { readFrom: 'preferReplica' });
    for (let times = 0; times < 10; times += 1) {
      expect(await evalOn(driver, "return redis.call('info', 'replication')", [], [])).toMatch(
        /^role:master/m,
      );
    }
  });

  it('runs a script and waits for replicas on the same connection', async () => {
    const cluster = await ownCluster({ primaries: 1, replicasEach: 1 });
    const driver = await open(cluster.addresses);
    const connection = await driver.openConnection(driver.nodeOf('key'), new Listener());
    const answers = [
      await connection.send(['CLIENT', 'ID']),
      await connection.send(['EVAL', "return redis.call('set', KEYS[1], '1')", '1', 'key']),
      await connection.send(['WAIT', '1', '5000']),
      await connection.send(['CLIENT', 'ID']),
    ];
    expect(answers).toEqual([answers[0], 'OK', 1, answers[0]]);
  });

  it('does not get a script again whose reply was lost', async () => {
    const { addresses } = await sharedCluster();
    const proxies = new Map<number, FaultProxy>();
    for (const address of addresses) proxies.set(address.port, await ownProxy(address));
    const driver = await open(addresses, {
      addressResolver: (host, port) => [host, proxies.get(port)?.port ?? port],
    });
    await driver.rediscover('any');
    const key = randomName();
    const proxy = proxies.get(Number(driver.nodeOf(key).split(':')[1]));
    const swallowed = proxy?.swallowReply(key);
    const count = "redis.call('expire', KEYS[1], 60) return redis.call('incr', KEYS[1])";
    const outcome = failure(evalOn(driver, count, [key], [])).then(classify);
    await swallowed;
    expect(await outcome).toBe('unknown');
    const read = "return redis.call('get', KEYS[1])";
    await expect.poll(() => evalOn(driver, read, [key], []).catch(() => 'down')).toBe('1');
  });
});
