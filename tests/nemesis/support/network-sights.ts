/** What is seen of faults of the network, of single requests and of subscriptions. */
import { expect } from 'vitest';
import { RawConnection } from '../../../src/testing/index.ts';
import { eventually } from '../../harness/wait.ts';
import { LEASE_MS } from './serving.ts';
import { type Home, homesOn, isSilent, type Observation, oneOf, open, tookMs } from './sight.ts';

const COUNT = "return redis.call('INCR', KEYS[1])";

async function countOn({ server }: Home, key: string): Promise<number> {
  return Number(await server.command('GET', key));
}

/** After the start, this is seen at one of the homes. */
function seenAtOne(look: (home: Home) => Promise<boolean>, withinMs?: number): Observation {
  return async ({ stage, start }) => {
    const homes = await homesOn(stage);
    await start();
    await oneOf(homes, look, withinMs);
  };
}

const silent: Observation = async (sight) => {
  await seenAtOne(async ({ door }) => isSilent((await open(door)).command('PING')))(sight);
  for (const server of sight.stage.servers) expect(await server.command('PING')).toBe('PONG');
};

const commandsSilent: Observation = async ({ stage, start }) => {
  const homes = await homesOn(stage);
  const connections = await Promise.all(homes.map(({ door }) => open(door)));
  for (const connection of connections) await connection.command('EVAL', 'return 1', 0);
  await start();
  await oneOf(connections, (connection) => isSilent(connection.command('PING')));
  for (const { door } of homes) expect(await (await open(door)).command('PING')).toBe('PONG');
};

const isRefusing = async ({ door: { host, port } }: Home) =>
  RawConnection.connect(host, port).then(
    async (connection) => {
      await connection.close();
      return false;
    },
    (error) => error.code === 'ECONNREFUSED',
  );

/** A request takes longer than this. */
function slowerThan(ms: number, command: [string, ...(string | number)[]], withinMs?: number): Observation {
  return seenAtOne(async ({ door }) => {
    const connection = await open(door);
    return (await tookMs(() => connection.command(...command).catch(() => undefined))) > ms;
  }, withinMs);
}

const connectionsKilled: Observation = async ({ stage, start }) => {
  const homes = await homesOn(stage);
  const connections = await Promise.all(homes.flatMap(({ server }) => [open(server), open(server)]));
  await start();
  await oneOf(connections, async (connection) => !connection.isOpen);
};

/** Runs scripts until one is not answered; tells how many were. */
async function untilUnanswered(connection: RawConnection, key: string): Promise<number> {
  const from = performance.now();
  for (let answered = 0; performance.now() - from < 10_000; answered += 1) {
    const running = connection.command('EVAL', COUNT, 1, key);
    running.catch(() => undefined);
    // A busy machine may take its time once.
    const isLost = (await isSilent(running)) && (await isSilent(running));
    if (isLost || !connection.isOpen) return answered;
    await running;
  }
  throw new Error('Every script was answered');
}

/** One more has run than were answered. */
async function loseReply(home: Home): Promise<void> {
  const key = home.name();
  const answered = await untilUnanswered(await open(home.door), key);
  await eventually(async () => (await countOn(home, key)) === answered + 1);
}

const repliesLost: Observation = async ({ stage, start }) => {
  const homes = await homesOn(stage);
  await start();
  await Promise.any(homes.map(loseReply));
};

const outage: Observation = async ({ stage, start }) => {
  const homes = await homesOn(stage);
  const losing = loseReply(homes[0] as Home);
  await start();
  await losing;
  await oneOf(homes, isRefusing);
};

/** A request whose connection breaks before it has run, and which runs later all the same. */
const isOvertaken = async (home: Home) => {
  const [key, connection] = [home.name(), await open(home.door)];
  const isBroken = await connection.command('EVAL', COUNT, 1, key).then(
    () => false,
    () => !connection.isOpen,
  );
  if (!isBroken || (await countOn(home, key)) !== 0) return false;
  const hasRun = async () => (await countOn(home, key)) === 1;
  return eventually(hasRun, { withinMs: 2_000 }).catch(() => false);
};

/** A subscriber at each home, and what it is subscribed to. */
async function subscribersAt(homes: readonly Home[], isSharded: boolean) {
  return Promise.all(
    homes.map(async (home) => {
      const [connection, channel] = [await open(home.door), home.name()];
      const confirmed = connection.command(isSharded ? 'SSUBSCRIBE' : 'SUBSCRIBE', channel);
      confirmed.catch(() => undefined);
      return { home, connection, channel, confirmed };
    }),
  );
}

/** Subscribed before the fault, and what becomes of it. */
function subscribersSee(
  look: (subscriber: Awaited<ReturnType<typeof subscribersAt>>[number]) => Promise<boolean>,
): Observation {
  return async ({ stage, start }) => {
    const subscribers = await subscribersAt(await homesOn(stage), stage.name === 'cluster');
    await Promise.all(subscribers.map(({ confirmed }) => confirmed));
    await start();
    await oneOf(subscribers, look);
  };
}

const areDropped = subscribersSee(async ({ connection }) => !connection.isOpen);

const halfOpen = subscribersSee(async ({ home, connection, channel }) => {
  const message = connection.nextMessage();
  message.catch(() => undefined);
  await home.server.command('PUBLISH', channel, 'hello');
  await home.server.command('SPUBLISH', channel, 'hello');
  return connection.isOpen && isSilent(message);
});

const away: Observation = async (sight) => {
  const { stage, stop } = sight;
  await areDropped(sight);
  const after = await subscribersAt(await homesOn(stage), stage.name === 'cluster');
  const confirmed = after.map((subscriber) => subscriber.confirmed);
  expect(await isSilent(Promise.any(confirmed))).toBe(true);
  await stop();
  await Promise.any(confirmed);
};

const unconfirmed: Observation = async ({ stage, start }) => {
  const [homes, isSharded] = [await homesOn(stage), stage.name === 'cluster'];
  await start();
  const subscribers = await subscribersAt(homes, isSharded);
  expect(await isSilent(Promise.any(subscribers.map(({ confirmed }) => confirmed)))).toBe(true);
  const question = isSharded ? 'SHARDNUMSUB' : 'NUMSUB';
  for (const { home, channel } of subscribers) {
    expect(await home.server.command('PUBSUB', question, channel)).toEqual([channel, 1]);
  }
};

export const NETWORK_SIGHTS: Readonly<Record<string, Observation>> = {
  'network-silent': silent,
  'commands-silent': commandsSilent,
  'connections-refused': seenAtOne(isRefusing),
  'network-slow': slowerThan(35, ['PING']),
  'grants-late': slowerThan(LEASE_MS, ['PING']),
  'connections-killed': connectionsKilled,
  'replies-lost': repliesLost,
  'outage-after-lost-replies': outage,
  'requests-overtaken': seenAtOne(isOvertaken, 15_000),
  'requests-past-lease': slowerThan(LEASE_MS - 50, ['EVAL', 'return 1', 0], 15_000),
  'subscribers-half-open': halfOpen,
  'subscribers-away': away,
  'subscriptions-unconfirmed': unconfirmed,
  'subscribers-dropped': areDropped,
};
