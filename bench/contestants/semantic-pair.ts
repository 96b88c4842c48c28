/**
 * The two commands of holdfast's lock with nothing around them: no line, no deadline, no watchdog. It tells what the
 * library adds from what its protocol costs.
 *
 * The commands are recorded from one real cycle and sent again with a new owner each time. So they are always the ones
 * that the lock sends, whatever their keys and arguments are.
 */
import type { Redis } from 'ioredis';
import { Holdfast } from '../../src/index.ts';
import { connectIoredis } from './clients.ts';
import type { Contestant, Use } from './contestant.ts';

const KEY = 'semantic-pair';
const RECORDED = ['evalsha', 'fcall'];

/** Makes the arguments of one command for an owner. */
type Command = (owner: string) => string[];

interface Recording {
  readonly name: string;
  readonly command: Command;
}

/** Puts another key and owner in place of the recorded ones. */
function template(args: readonly string[], owner: string, key: string): Command {
  const moved = args.map((arg) => arg.replaceAll(KEY, key));
  const places = moved.flatMap((arg, index) => (arg.includes(owner) ? [index] : []));
  return (next) => {
    const filled = moved.slice();
    for (const place of places) filled[place] = (moved[place] as string).replace(owner, next);
    return filled;
  };
}

/** Lets holdfast run one cycle and returns what it sent, with the owner that it used. */
async function record(redis: Redis): Promise<{ sent: string[][]; owner: string }> {
  const client = Holdfast.from(redis);
  const lock = client.getLock(KEY);
  // Loads the scripts.
  await (await lock.lock()).unlock();
  const sent: string[][] = [];
  const monitor = await redis.monitor();
  monitor.on('monitor', (_time: string, args: string[], source: string) => {
    if (source !== 'lua' && RECORDED.includes((args[0] ?? '').toLowerCase())) sent.push(args);
  });
  const hold = await lock.lock();
  const [owner = ''] = await redis.hkeys(KEY);
  await hold.unlock();
  // The monitor has its own connection: what it saw arrives independently of the replies.
  while (sent.length < 2) await new Promise(setImmediate);
  monitor.disconnect();
  await client.close();
  return { sent, owner };
}

function replay(redis: Redis, recorded: string, [take, give]: readonly [Recording, Recording]): Use {
  // As long as the recorded one, which ends with a number.
  const prefix = recorded.slice(0, recorded.lastIndexOf(':') + 1);
  let last = 0;
  return async (section) => {
    last += 1;
    const owner = `${prefix}${last}`;
    await redis.call(take.name, take.command(owner));
    await section();
    await redis.call(give.name, give.command(owner));
  };
}

export const semanticPair: Contestant = {
  id: 'semantic-pair',
  title: 'semantic pair (ioredis)',
  kind: 'yardstick',
  runtime: 'node',
  note: "the two `EVALSHA` of holdfast's lock, as the lock sends them, and nothing else",
  connect: async (url) => {
    const redis = await connectIoredis(url);
    const { sent, owner } = await record(redis);
    return {
      lock: (key) => {
        const [take, give] = sent.map(([name = '', ...args]) => ({
          name,
          command: template(args, owner, key),
        }));
        return replay(redis, owner, [take as Recording, give as Recording]);
      },
    };
  },
};
