/**
 * The state of a client of node-redis, for error messages.
 */
import type { Condition } from '../driver.ts';
import { lastErrorOf } from '../last-error.ts';

/** The members that tell the state; a pool has no `isReady`. */
interface NodeRedisState {
  readonly isOpen: boolean;
  readonly isReady?: boolean;
}

/** The used options of a client; those of a pool, a Cluster and Sentinels are not visible. */
interface Options {
  readonly socket?: { readonly tls?: unknown };
  readonly password?: unknown;
  readonly credentialsProvider?: unknown;
}

export function nodeRedisCondition(client: NodeRedisState): Condition {
  const { isOpen, isReady } = client;
  const state = isReady === undefined ? `isOpen: ${isOpen}` : `isOpen: ${isOpen}, isReady: ${isReady}`;
  const options = Reflect.get(client, 'options') as Options | null | undefined;
  return {
    client: 'the node-redis client',
    state: isOpen && isReady !== false ? undefined : state,
    isClosed: !isOpen,
    isTls: Boolean(options?.socket?.tls),
    hasPassword: Boolean(options?.password ?? options?.credentialsProvider),
    lastError: lastErrorOf(client),
  };
}
