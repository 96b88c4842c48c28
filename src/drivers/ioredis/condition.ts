/**
 * The state of an ioredis or iovalkey client, for error messages.
 */
import type { Condition } from '../driver.ts';
import { lastErrorOf } from '../last-error.ts';
import type { IoredisSender } from './connection.ts';

/** @param isOurs whether holdfast opened the client: the user knows nothing of it */
export function ioredisCondition(client: IoredisSender, isOurs: boolean): Condition {
  const { status } = client;
  return {
    client: isOurs ? 'the client' : 'the ioredis client',
    state: status === 'ready' ? undefined : `status "${status}"`,
    isClosed: status === 'end' && !isOurs,
    isTls: Boolean(optionOf(client, 'tls')),
    hasPassword: Boolean(optionOf(client, 'password')),
    lastError: lastErrorOf(client) ?? firstErrorOf(client),
  };
}

/** The library emits no error when the user listens to none, but keeps the error of its socket. */
function firstErrorOf(client: object): Error | undefined {
  const connector: unknown = Reflect.get(client, 'connector');
  if (typeof connector !== 'object' || connector === null) return undefined;
  const error: unknown = Reflect.get(connector, 'firstError');
  return error instanceof Error ? error : undefined;
}

type Options = { readonly [Name in 'tls' | 'password']?: unknown };

/** A Cluster client has the options of its nodes apart. */
function optionOf(client: object, name: keyof Options): unknown {
  const options = Reflect.get(client, 'options') as Options & { readonly redisOptions?: Options };
  return options[name] ?? options.redisOptions?.[name];
}
