/**
 * How a client of Valkey GLIDE is spoken to, and what its errors mean in the words of the server.
 *
 * GLIDE takes the code off a server's error and puts a name of its own in its place, so that nobody who knows
 * the server would recognise it. Here the server's text is put together again, and the few errors by which
 * GLIDE says that it never sent the command become an UnsentError. A time-out (250 ms unless
 * `requestTimeout` says otherwise) and a lost connection pass as they are: the outcome is unknown. GLIDE sends
 * nothing again whose reply was lost; it follows redirections of a Cluster by itself.
 */

import { UnsentError } from '../../outcome.ts';
import type { ScriptArgument, ScriptReply } from '../driver.ts';

/** Where a Cluster client is told to send a command. */
export type GlideRoute =
  | 'randomNode'
  | { readonly type: 'primarySlotKey'; readonly key: string }
  | { readonly type: 'routeByAddress'; readonly host: string; readonly port: number };

/** What is used of a GlideClient or GlideClusterClient. */
export interface GlideClient {
  customCommand(args: ScriptArgument[], options?: object): Promise<unknown>;
}

/** GLIDE's `Decoder.Bytes`. Its text decoder fails on a reply with one byte that is not UTF-8. */
const AS_BYTES = 0;

type RawReply = number | string | Buffer | null | RawReply[];

/** Sends a command as given; to a standalone client without a route. */
export async function send(
  client: GlideClient,
  args: readonly ScriptArgument[],
  route?: GlideRoute,
): Promise<ScriptReply> {
  try {
    const reply = await client.customCommand([...args], { decoder: AS_BYTES, route });
    return asText(reply as RawReply);
  } catch (error) {
    throw inServerWords(error);
  }
}

function asText(reply: RawReply): ScriptReply {
  if (Buffer.isBuffer(reply)) return reply.toString();
  return Array.isArray(reply) ? reply.map(asText) : reply;
}

/** An error that the server replied with, in its own words. */
class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

/** GLIDE's names for codes it knows, where they are not the code in another spelling (`ReadOnly`, `Moved`). */
const CODES: ReadonlyMap<string, string> = new Map([
  ['ResponseError', 'ERR'],
  ['NoScriptError', 'NOSCRIPT'],
  ['PermissionDenied', 'NOPERM'],
  ['BusyLoadingError', 'LOADING'],
  ['ExecAbortError', 'EXECABORT'],
]);

const KNOWN_CODE = /^An error was signalled by the server:? ?- (\w+)(?:: ([\s\S]*))?$/;
const OTHER_CODE = /^([A-Z][A-Z0-9]*): ([\s\S]*)$/;

/** What GLIDE says when it has not sent a command: closed, too many under way, no connection. */
const UNSENT =
  /^Unable to execute requests; the client is closed|^Reached maximum inflight requests|circuit breaker is open|- (?:FatalSendError|ConnectionNotFoundForRoute|AllConnectionsUnavailable)\b/i;

/** The same error as the server said it, or as an UnsentError; GLIDE's own is kept as `cause`. */
export function inServerWords(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const [, kind, detail] = KNOWN_CODE.exec(error.message) ?? [];
  if (kind !== undefined) {
    const code = CODES.get(kind) ?? kind.toUpperCase();
    return new ReplyError(detail === undefined ? code : `${code} ${detail}`, { cause: error });
  }
  const [, code, text] = OTHER_CODE.exec(error.message) ?? [];
  if (code !== undefined) return new ReplyError(`${code} ${text}`, { cause: error });
  return UNSENT.test(error.message) ? new UnsentError(error.message, { cause: error }) : error;
}
