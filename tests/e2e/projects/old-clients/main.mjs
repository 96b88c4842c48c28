import { GlideClient } from '@valkey/valkey-glide';
import { Holdfast } from 'holdfast';
import Redis from 'ioredis';
import { Cluster, Redis as Valkey } from 'iovalkey';
import { createClient } from 'redis';

const { REDIS_URL, LOCK_NAME } = process.env;

function refusal(client) {
  try {
    Holdfast.from(client);
    return 'taken';
  } catch ({ code, message }) {
    return `${code} ${message}`;
  }
}

const ioredis = new Redis(REDIS_URL);
const iovalkey = new Valkey(REDIS_URL);
class Derived extends Cluster {}
const cluster = new Derived([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true });
const redis = await createClient({ url: REDIS_URL }).connect();
const { hostname, port } = new URL(REDIS_URL);
const config = { addresses: [{ host: hostname, port: Number(port) }] };
const glide = await GlideClient.createClient(config);
// The old clients go on with their work.
console.log(JSON.stringify(await Promise.all([ioredis, iovalkey, redis, glide].map((each) => each.ping()))));
for (const client of [ioredis, iovalkey, cluster, redis, glide, { client: glide, config }]) {
  console.log(refusal(client));
}
ioredis.disconnect();
iovalkey.disconnect();
cluster.disconnect();
await redis.quit();
glide.close();

const client = await Holdfast.connect(REDIS_URL);
const hold = await client.getFencedLock(LOCK_NAME).lock();
const second = await client.getFencedLock(LOCK_NAME).tryLock();
await hold.unlock();
console.log(JSON.stringify({ token: hold.token, second }));
await client.close();
