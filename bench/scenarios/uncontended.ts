/**
 * Taking and releasing a free lock, against two bare round trips of the same client: with a script that does
 * nothing, and with the very scripts of the lock, so that what the server does can be told from what we do.
 */
import { Redis } from 'ioredis';
import type { Driver, ScriptReply } from '../../src/drivers/driver.ts';
import { Holdfast } from '../../src/index.ts';
import { endedKey, lockChannel } from '../../src/keys.ts';
import { lockAcquire, lockRelease } from '../../src/scripts/generated.ts';
import { compare, median, ratio } from '../measure.ts';
import type { Scenario } from '../scenario.ts';

const KEY = 'bench:scripts';

type ScriptRunner = Pick<Driver, 'eval' | 'evalSha'>;

/** Runs the scripts of the lock with nothing around them: no line, no deadline, no watchdog. */
function bareScripts(redis: Redis): () => Promise<void> {
  const runner: ScriptRunner = {
    evalSha: (sha1, keys, args) => redis.evalsha(sha1, keys.length, ...keys, ...args) as Promise<ScriptReply>,
    eval: (source, keys, args) => redis.eval(source, keys.length, ...keys, ...args) as Promise<ScriptReply>,
  };
  const channel = lockChannel(KEY);
  let last = 0;
  return async () => {
    last += 1;
    const owner = `bench:${last}`;
    const keys = { lock: KEY, ended: endedKey(KEY, owner) };
    await lockAcquire.run(runner, keys, { owner, leaseMs: 30_000 });
    await lockRelease.run(runner, keys, { owner, publish: 'PUBLISH', channel, rememberMs: 6_000 });
  };
}

export const uncontended: Scenario = {
  title: 'Uncontended',
  async run(url) {
    const redis = new Redis(url);
    const client = Holdfast.from(redis);
    const lock = client.getLock('bench:uncontended');
    const simple = client.getSimpleLock('bench:uncontended:simple');
    const sha = (await redis.script('LOAD', 'return 1')) as string;
    const times = await compare({
      bare: async () => {
        await redis.evalsha(sha, 0);
        await redis.evalsha(sha, 0);
      },
      scripts: bareScripts(redis),
      cycle: async () => {
        const hold = await lock.lock();
        await hold.unlock();
      },
      simple: async () => {
        const hold = await simple.lock();
        await hold.unlock();
      },
    });
    await client.close();
    await redis.quit();
    return [
      { what: 'two bare EVALSHA', value: median(times.bare) * 1_000, unit: 'µs' },
      {
        what: 'the two scripts, bare / two bare EVALSHA',
        value: ratio(times.scripts, times.bare),
        unit: 'x',
      },
      { what: 'lock + unlock / the two scripts, bare', value: ratio(times.cycle, times.scripts), unit: 'x' },
      { what: 'lock + unlock / two bare EVALSHA', value: ratio(times.cycle, times.bare), unit: 'x' },
      { what: 'simple lock + unlock / two bare EVALSHA', value: ratio(times.simple, times.bare), unit: 'x' },
    ];
  },
};
