/**
 * Bring your own clients: ioredis and node-redis, on one lock. holdfast never closes them.
 */
import { Holdfast } from 'holdfast';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { redisUrl } from './redis-url.ts';

const ioredis = new Redis(redisUrl, { keyPrefix: 'shop:' });
const nodeRedis = createClient({ url: redisUrl, keyPrefix: 'shop:' });
nodeRedis.on('error', (error) => console.error(error));
await nodeRedis.connect();

const one = Holdfast.from(ioredis);
const other = Holdfast.from(nodeRedis);
console.log(`The first client uses ${(await one.capabilities()).library}.`);
console.log(`The second client uses ${(await other.capabilities()).library}.`);

const hold = await one.getLock('till').lock();
console.log(`The key is ${(await other.inspect('till')).key}.`);
console.log(
  `The second client gets the lock meanwhile: ${(await other.getLock('till').tryLock()) !== null}.`,
);
await hold.unlock();
await other.getLock('till').withLock(() => console.log('The second client gets the lock afterwards: true.'));

await one.close();
await other.close();
console.log(`Both Redis clients are still open: ${ioredis.status === 'ready' && nodeRedis.isReady}.`);
await ioredis.quit();
await nodeRedis.close();
