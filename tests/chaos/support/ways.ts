/**
 * The ways a client can reach a server: the default settings of both libraries, and our own connections.
 * For tests and for child processes alike; what closes at a test's end is in `arena.ts`.
 */
import { type ClientOptions, Holdfast } from '../../../src/index.ts';

export const WAYS = ['default ioredis 6', 'default node-redis 6', 'Holdfast.connect'] as const;
export type Way = (typeof WAYS)[number];

export interface Place {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
}

export interface Opened {
  readonly client: Holdfast;
  readonly close: () => Promise<void>;
}

export async function openWay(way: Way, place: Place, options?: ClientOptions): Promise<Opened> {
  const { host, port, username, password } = place;
  const user = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
  switch (way) {
    case 'default ioredis 6': {
      const { Redis } = await import('ioredis');
      const redis = new Redis({ host, port, ...user });
      // ioredis prints errors that nobody listens to; what they do to us is what is tested.
      redis.on('error', () => {});
      await redis.ping();
      return over(Holdfast.from(redis, options), () => redis.disconnect());
    }
    case 'default node-redis 6': {
      const { createClient } = await import('redis');
      const redis = createClient({ socket: { host, port }, ...user });
      redis.on('error', () => {});
      await redis.connect();
      return over(Holdfast.from(redis, options), () => redis.destroy());
    }
    case 'Holdfast.connect':
      return over(await Holdfast.connect({ host, port, ...user }, options), () => {});
  }
}

function over(client: Holdfast, disconnect: () => void): Opened {
  const close = async () => {
    await client.close();
    disconnect();
  };
  return { client, close };
}
