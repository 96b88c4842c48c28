// Loaded by the driver when it opens its first connection, for which some tests allow only a moment.
import 'ioredis';
import { glideDriver } from '../../src/drivers/valkey-glide.ts';
import { openGlide } from '../harness/valkey-glide.ts';
import { describeDriver } from './driver-contract.ts';

describeDriver({
  title: 'Valkey GLIDE 2',
  hasKeyPrefix: false,
  probesOnConnect: true,
  async connect(settings) {
    const { client, config, close } = await openGlide({ host: '127.0.0.1', ...settings });
    return {
      driver: glideDriver(client, config),
      user: { eventNames: () => [], listenerCount: () => 0, ping: () => client.ping() },
      close,
    };
  },
});
