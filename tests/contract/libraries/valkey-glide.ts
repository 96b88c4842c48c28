// Loaded by the driver when it opens its first connection, for which some tests allow only a moment.
import 'ioredis';
import { GlideClusterClient } from '@valkey/valkey-glide';
import { glideClusterDriver } from '../../../src/drivers/valkey-glide/cluster.ts';
import { glideDriver } from '../../../src/drivers/valkey-glide/one-server.ts';
import { glideConfig, openGlide, openGlideCluster } from '../../harness/valkey-glide.ts';
import { type ClusterSettings, describeClusterDriver } from '../parts/cluster-contract.ts';
import { describeDriver } from '../parts/driver-contract.ts';

const host = '127.0.0.1';

export function standalone(): void {
  describeDriver({
    title: 'Valkey GLIDE 2',
    hasKeyPrefix: false,
    probesOnConnect: true,
    keepsWaiting: true,
    async connect(settings) {
      const { client, config, close } = await openGlide({ host, ...settings });
      return {
        driver: glideDriver(client, config),
        user: { eventNames: () => [], listenerCount: () => 0, ping: () => client.ping() },
        close,
      };
    },
  });
}

export function cluster(): void {
  describeDriver({
    title: 'Valkey GLIDE 2 Cluster',
    hasKeyPrefix: false,
    topology: 'cluster',
    probesOnConnect: true,
    keepsWaiting: true,
    async connect(settings) {
      const { client, config, close } = await openGlideCluster({ host, ...settings });
      const driver = glideClusterDriver(client, config);
      await driver.rediscover('any');
      return {
        driver,
        user: { eventNames: () => [], listenerCount: () => 0, ping: () => client.ping() },
        close,
      };
    },
  });

  describeClusterDriver({ title: 'Valkey GLIDE 2', learnsUnseen: true, connect: connectCluster });
}

async function connectCluster({ ports: [port = 0], ca, ...login }: ClusterSettings) {
  const config = { ...glideConfig({ host, port, ...login }), useTLS: ca !== undefined };
  const trusting = (trust: object) => ({
    ...config,
    ...(ca !== undefined && { advancedConfiguration: { tlsAdvancedConfiguration: trust } }),
  });
  // The client itself takes no certificate that is its own authority.
  const client = await GlideClusterClient.createClient(trusting({ insecure: true }));
  const driver = glideClusterDriver(client, trusting({ rootCertificates: ca }));
  await driver.rediscover('any');
  const close = async () => {
    await driver.close();
    client.close();
  };
  return { driver, close };
}
