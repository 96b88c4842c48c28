/**
 * Clients that are wrong on purpose: one of their scripts is another than ours.
 */
import { Command, Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { type ClientOptions, Holdfast } from '../../../src/index.ts';
import type { Place } from './ways.ts';

export interface Mutation {
  readonly script: { readonly sha1: string; readonly source: string };
  readonly replace: string;
  readonly by: string;
}

/** A client whose script differs in this one place, closed when the test ends. */
export async function mutant(place: Place, mutation: Mutation, options?: ClientOptions): Promise<Holdfast> {
  const { script, replace, by } = mutation;
  const source = script.source.replace(replace, by);
  if (source === script.source) throw new Error(`The script has no ${JSON.stringify(replace)} to mutate`);
  const redis = new Redis(place.port, place.host);
  redis.on('error', () => {});
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command: Command, ...rest: []) => {
    const isOurs = command.name === 'evalsha' && command.args[0] === script.sha1;
    if (!isOurs) return send(command, ...rest);
    return send(new Command('eval', [source, ...command.args.slice(1)], { replyEncoding: null }), ...rest);
  };
  await redis.ping();
  const client = Holdfast.from(redis, options);
  onTestFinished(async () => {
    await client.close();
    redis.disconnect();
  });
  return client;
}
