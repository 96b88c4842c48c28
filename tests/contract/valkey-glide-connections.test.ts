/** Where the connections of our own lead that a configuration of Valkey GLIDE describes, and when there are none. */

import { GlideClient, NodeDiscoveryMode } from '@valkey/valkey-glide';
import { describe, expect, it, onTestFinished } from 'vitest';
import { detectDriver } from '../../src/drivers/detect.ts';
import type { Connection, Driver } from '../../src/drivers/driver.ts';
import { glideDriver } from '../../src/drivers/valkey-glide/one-server.ts';
import { classify } from '../../src/outcome.ts';
import { randomName } from '../harness/names.ts';
import { evalOn } from '../harness/script-calls.ts';
import { describeWithProcess, openShared, sharedServer } from '../harness/servers.ts';
import { ownReplicas, ownTlsServer } from '../harness/topologies.ts';
import { glideConfig } from '../harness/valkey-glide.ts';

type Config = Parameters<typeof GlideClient.createClient>[0];

async function createClient(config: Config): Promise<GlideClient> {
  const client = await GlideClient.createClient(config);
  onTestFinished(() => client.close());
  return client;
}

async function connection(driver: Driver, messages: string[] = []): Promise<Connection> {
  const events = { onMessage: (_: string, message: string) => messages.push(message), onDown: () => {} };
  const opened = await driver.openConnection('', events);
  onTestFinished(() => opened.destroy());
  return opened;
}

async function failure(driver: Driver): Promise<Error> {
  return connection(driver).then(
    () => expect.unreachable('there should be no connection'),
    (error: Error) => error,
  );
}

describe('the configuration of a Valkey GLIDE client', () => {
  it.each(['kept by the client', 'handed over'])('opens connections when it is %s', async (way) => {
    const config = glideConfig(sharedServer());
    const client = await createClient(config);
    const given =
      way === 'handed over'
        ? { client: Object.assign(Object.create(client), { config: null }), config }
        : client;
    const messages: string[] = [];
    const subscriber = await connection(detectDriver(given), messages);
    const channel = randomName();
    await subscriber.subscribe(channel, 'plain');
    await (await openShared()).command('PUBLISH', channel, 'heard');
    await expect.poll(() => messages).toEqual(['heard']);
  });

  it('is requested in an error that is not retried, and scripts still run', async () => {
    const client = await createClient(glideConfig(sharedServer()));
    const driver = detectDriver(Object.assign(Object.create(client), { config: undefined }));
    const error = await failure(driver);
    expect(error.message).toContain('Holdfast.from({ client, config })');
    expect(classify(error)).toBe('refused');
    expect(await evalOn(driver, 'return 1', [], [])).toBe(1);
  });

  it('is refused with a clear error if only Valkey GLIDE can log in with it', async () => {
    const config = glideConfig(sharedServer());
    const iamConfig = { clusterName: 'c', region: 'r' };
    const driver = glideDriver(await createClient(config), {
      ...config,
      credentials: { username: 'u', iamConfig },
    });
    const error = await failure(driver);
    expect(error.message).toMatch(/IAM.*Holdfast\.from\(\{ client, config \}\)/);
    expect(classify(error)).toBe('refused');
  });

  it('has its address resolver called', async () => {
    const { host, port } = sharedServer();
    const config = {
      ...glideConfig({ host: 'primary.example', port: 1 }),
      addressResolver: (name: string): [string, number] => [
        name === 'primary.example' ? host : 'nowhere',
        port,
      ],
    };
    const opened = await connection(glideDriver(await createClient(config), config));
    expect(await opened.send(['PING'])).toBe('PONG');
  });

  it('gives its name to the connections', async () => {
    const clientName = randomName();
    const config = { ...glideConfig(sharedServer()), clientName };
    const opened = await connection(glideDriver(await createClient(config), config));
    expect(await opened.send(['CLIENT', 'GETNAME'])).toBe(clientName);
  });
});

describeWithProcess('a primary and its replicas behind Valkey GLIDE', () => {
  async function set() {
    const replicas = await ownReplicas({ replicas: 1 });
    const [replica] = replicas.replicas;
    if (replica === undefined) return expect.unreachable('there should be a replica');
    const address = ({ host, port }: { host: string; port: number }) => ({ host, port });
    return {
      replicas,
      primary: address(replicas.primary),
      replica: address(replica.server),
      server: replica.server,
    };
  }

  async function portOf(opened: Connection): Promise<number> {
    return Number(/^tcp_port:(\d+)/m.exec(String(await opened.send(['INFO', 'server'])))?.[1]);
  }

  it('is searched for the primary, in any order of the addresses', async () => {
    const { primary, replica } = await set();
    const config = { ...glideConfig(primary), addresses: [replica, primary] };
    const driver = glideDriver(await createClient(config), config);
    expect(await portOf(await connection(driver))).toBe(primary.port);
  });

  it('is searched again for every connection', async () => {
    const { replicas, primary, replica, server } = await set();
    const config = { ...glideConfig(primary), addresses: [primary, replica] };
    const driver = glideDriver(await createClient(config), config);
    expect(await portOf(await connection(driver))).toBe(primary.port);
    await server.command('REPLICAOF', 'NO', 'ONE');
    await replicas.primary.command('REPLICAOF', replica.host, replica.port);
    expect(await portOf(await connection(driver))).toBe(replica.port);
  });

  it('is not searched if the client lets a replica name the primary', async () => {
    const { primary, replica } = await set();
    const config = { ...glideConfig(replica), nodeDiscoveryMode: NodeDiscoveryMode.DiscoverAll };
    const driver = glideDriver(await createClient(config), config);
    expect(await portOf(await connection(driver))).toBe(primary.port);
  });

  it('is not searched if the first address is the primary by configuration', async () => {
    const { primary, replica } = await set();
    const config = {
      ...glideConfig(replica),
      addresses: [replica, primary],
      nodeDiscoveryMode: NodeDiscoveryMode.Static,
    };
    const driver = glideDriver(await createClient(config), config);
    expect(await portOf(await connection(driver))).toBe(replica.port);
  });

  it('gives no connection without a primary or after closing, and leaves none behind', async () => {
    const { replicas, primary, replica, server } = await set();
    const config = { ...glideConfig(primary), addresses: [replica, primary] };
    const client = await createClient(config);
    const driver = glideDriver(client, config);
    const count = async () => {
      const lists = await Promise.all(
        [server, replicas.primary].map((each) => each.command('CLIENT', 'LIST')),
      );
      return lists.join('').match(/^id=/gm)?.length;
    };
    const before = await count();
    const closing = failure(driver);
    await driver.close();
    expect(await closing).toBeInstanceOf(Error);
    const orphans = glideDriver(client, { ...config, addresses: [replica, replica] });
    expect((await failure(orphans)).message).toContain('is a primary');
    await expect.poll(count).toBe(before);
  });
});

describeWithProcess('TLS behind Valkey GLIDE', () => {
  type Trust = { insecure?: boolean; rootCertificates?: string };

  async function driverWith(trustOf: (ca: string) => Trust): Promise<Driver> {
    const { host, port, ca } = await ownTlsServer();
    const config = { ...glideConfig({ host, port }), useTLS: true };
    const trusting = (tlsAdvancedConfiguration: Trust) => ({
      ...config,
      advancedConfiguration: { tlsAdvancedConfiguration },
    });
    // The client itself takes no certificate that is its own authority.
    const client = await createClient(trusting({ insecure: true }));
    return glideDriver(client, trusting(trustOf(ca)));
  }

  it.each([
    ['its root certificate', (ca: string) => ({ rootCertificates: ca })],
    ['no check at all', () => ({ insecure: true })],
  ])('is inherited with %s', async (_, trustOf) => {
    const opened = await connection(await driverWith(trustOf));
    expect(await opened.send(['PING'])).toBe('PONG');
  });

  it('is refused with a clear error if Node.js does not trust the certificate', async () => {
    const error = await failure(await driverWith(() => ({})));
    expect(error.message).toMatch(/certificate.*rootCertificates/);
    expect(classify(error)).toBe('refused');
  });
});
