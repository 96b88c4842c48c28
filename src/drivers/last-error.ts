/**
 * Remembers the last error that a client reported, for the messages of later failures.
 *
 * A listener for `error` would change what the user's client does: node-redis ends the process when nobody listens, and
 * ioredis prints. `errorMonitor` hears the same events and does not count as a listener.
 */
import { errorMonitor } from 'node:events';

/** Every client that has events is one; their types disagree on `on`. */
interface Emitter {
  on(event: string | symbol, listener: (error: unknown) => void): unknown;
}

/** What each client reported last. */
const HEARD = new WeakMap<object, { error: Error | undefined }>();

/**
 * Begins to listen, once for each client and for as long as the client lives: what node-redis hands out shares the
 * listeners of an inner object, and removing the last one of them would detach the listeners of the user.
 *
 * @param nodeEvent the event by which a Cluster client reports errors of single nodes
 */
export function rememberErrors(client: object, nodeEvent?: string): void {
  if (HEARD.has(client)) return;
  const heard: { error: Error | undefined } = { error: undefined };
  HEARD.set(client, heard);
  const listen = (error: unknown) => {
    if (error instanceof Error) heard.error = error;
  };
  const emitter = client as Emitter;
  emitter.on(errorMonitor, listen);
  if (nodeEvent !== undefined) emitter.on(nodeEvent, listen);
}

/** The last error since `rememberErrors`. */
export function lastErrorOf(client: object): Error | undefined {
  return HEARD.get(client)?.error;
}
