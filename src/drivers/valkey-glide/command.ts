/**
 * Sends commands on a client of Valkey GLIDE, and restores the server's error messages.
 *
 * GLIDE replaces the code of a server error by its own name. This file rebuilds the server's text, and turns the few
 * errors by which GLIDE says that it never sent the command into an UnsentError. A time-out (250 ms unless
 * `requestTimeout` is set) and a lost connection pass unchanged: the outcome is unknown. GLIDE does not resend a
 * command whose reply was lost; it follows redirections of a Cluster by itself.
 */

import { UnsentError } from '../../outcome.ts';
import type { Condition, ScriptArgument, ScriptReply } from '../driver.ts';

/** The destination of a command in a Cluster. */
export type GlideRoute =
  | 'randomNode'
  | { readonly type: 'primarySlotKey'; readonly key: string }
  | { readonly type: 'routeByAddress'; readonly host: string; readonly port: number };

/** The used members of a GlideClient or GlideClusterClient. */
export interface GlideClient {
  customCommand(args: ScriptArgument[], options?: object): Promise<unknown>;
}

/** GLIDE's `Decoder.Bytes`. Its text decoder fails on a reply with one byte that is not UTF-8. */
const AS_BYTES = 0;

type RawReply = number | string | Buffer | null | RawReply[];

/** Sends a command as given. A standalone client takes no route. */
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

/** GLIDE tells no state but that it was closed. */
export function glideCondition(client: GlideClient): Condition | undefined {
  if (Reflect.get(client, 'isClosed') !== true) return undefined;
  return {
    client: 'the Valkey GLIDE client',
    state: 'isClosed: true',
    isClosed: true,
    isTls: false,
    hasPassword: false,
    lastError: undefined,
  };
}

function asText(reply: RawReply): ScriptReply {
  if (Buffer.isBuffer(reply)) return reply.toString();
  return Array.isArray(reply) ? reply.map(asText) : reply;
}

/** An error reply, with the server's own text. */
class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

/** GLIDE's names for known codes, where the name is not the code in another spelling (`ReadOnly`, `Moved`). */
const CODES: ReadonlyMap<string, string> = new Map([
  ['ResponseError', 'ERR'],
  ['NoScriptError', 'NOSCRIPT'],
  ['PermissionDenied', 'NOPERM'],
  ['BusyLoadingError', 'LOADING'],
  ['ExecAbortError', 'EXECABORT'],
]);

const KNOWN_CODE = /^An error was signalled by the server:? ?- (\w+)(?:: ([\s\S]*))?$/;
const OTHER_CODE = /^([A-Z][A-Z0-9]*): ([\s\S]*)$/;

/** GLIDE's messages for a command it has not sent: closed, too many pending, no connection. */
const UNSENT =
  /^Unable to execute requests; the client is closed|^Reached maximum inflight requests|circuit breaker is open|- (?:FatalSendError|ConnectionNotFoundForRoute|AllConnectionsUnavailable)\b/i;

/** The error with the server's text, or as an UnsentError; GLIDE's own error is kept as `cause`. */
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
