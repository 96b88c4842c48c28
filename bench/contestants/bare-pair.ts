/**
 * The least that a lock can cost: two EVALSHA that take and delete a hash, with nothing around them. They do not wait,
 * renew or notify, so they take part only where nobody contends.
 */
import { connectIoredis, connectNodeRedis } from './clients.ts';
import type { Contestant } from './contestant.ts';

const TAKE = `if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return nil
end
return redis.call('PTTL', KEYS[1])`;

const GIVE = `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return nil
end
return redis.call('DEL', KEYS[1])`;

/** A time-out of node-redis makes a signal and a timer for every command; holdfast has one timer for all. */
const NO_TIMEOUT: object = { timeout: undefined };

const OWNER = 'bench:1';
const LEASE_MS = '30000';

const shared = { kind: 'yardstick', runtime: 'node' } as const;

export const bareIoredis: Contestant = {
  ...shared,
  id: 'bare-ioredis',
  title: 'bare pair (ioredis)',
  note: 'two `EVALSHA`: `EXISTS`, `HSET`, `PEXPIRE`; then `HEXISTS`, `DEL`',
  connect: async (url) => {
    const redis = await connectIoredis(url);
    const take = (await redis.script('LOAD', TAKE)) as string;
    const give = (await redis.script('LOAD', GIVE)) as string;
    return {
      lock: (key) => async (section) => {
        await redis.evalsha(take, 1, key, OWNER, LEASE_MS);
        await section();
        await redis.evalsha(give, 1, key, OWNER);
      },
    };
  },
};

export const bareNodeRedis: Contestant = {
  ...shared,
  id: 'bare-node-redis',
  title: 'bare pair (node-redis)',
  note: 'the same by `sendCommand` of node-redis, which is faster than its `evalSha`, without its time-out of each command',
  connect: async (url) => {
    const redis = await connectNodeRedis(url);
    const take = await redis.scriptLoad(TAKE);
    const give = await redis.scriptLoad(GIVE);
    return {
      lock: (key) => async (section) => {
        await redis.sendCommand(['EVALSHA', take, '1', key, OWNER, LEASE_MS], NO_TIMEOUT);
        await section();
        await redis.sendCommand(['EVALSHA', give, '1', key, OWNER], NO_TIMEOUT);
      },
    };
  },
};
