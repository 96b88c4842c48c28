/**
 * The words for a failure: what is wrong, and what to do about it.
 *
 * Called after a failure only. `outcome.ts` decides what an error means; the code that knows more about a failure than
 * its error says, such as the key it is about, leaves a note on the error here. The error itself stays as it is.
 */
import type { Condition, Driver } from './drivers/driver.ts';

/** What is known beyond the error. */
interface Note {
  readonly text: string;
  /** The error that explains it; left out where it is the error that has the note. */
  readonly cause?: Error | undefined;
}

const NOTES = new WeakMap<Error, Note>();

/** From version 7 on, the place in our script follows the error of a command that a script called. */
const SCRIPT_PLACE = / script: [0-9a-f]{40}, on @user_script:\d+\.?$/;

const CHECK_ADDRESS = 'Check that the server runs, and that the client has its address';
const USE_TLS = 'If the port expects TLS, connect with TLS (rediss://, or the option tls)';
const DROP_TLS = 'The client speaks TLS: if the port does not, connect without TLS (redis://)';
const TRUST = 'Give the client the authority that signed the certificate of the server (tls: { ca })';
const USE_PASSWORD = 'Give the client the username and password of its user';
const CORRECT_PASSWORD = 'Correct the username and the password, or enable the user (ACL SETUSER <user> on)';
const USE_PRIMARY = 'Connect to its primary, or through Sentinels: { sentinels, name }';
const USE_CLUSTER = 'Use { cluster: [{ host, port }] }, or a Cluster client of the library';
const NEW_CLIENT = 'Make a new client, and pass it to Holdfast.from';
const OTHER_NAME =
  "Use another name, or keep names apart: mapName: (name) => 'locks:' + name, or the keyPrefix of your client";

/** Errors of Node.js for a certificate that it does not trust. */
const UNTRUSTED = /CERT|UNABLE_TO_VERIFY|ALTNAME/;
/** Errors of Node.js for an answer that is not TLS. */
const NOT_TLS = /^(?:EPROTO|ERR_SSL_)/;
/** The codes of the operating system, and of the resolver of names. */
const SYSTEM = /^E[A-Z]+(?:_[A-Z]+)?$/;
const NO_ANSWER = /did not answer|ETIMEDOUT|timed out|timeout/i;
/** The other side ended the connection. */
const HUNG_UP =
  /ECONNRESET|EPIPE|Connection is closed|Socket closed unexpectedly|Protocol error|Unknown RESP type/;

/** The text of an error without its code and its place in our script, which do not help users. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.message
    .replace(SCRIPT_PLACE, '')
    .replace(/^-?(?:ERR|NOPERM) (?:ACL failure in script: )?/, '');
  if (text !== '') return text;
  // A name with several addresses, none of which answers.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(textOf).join(', ');
  return String((error as NodeJS.ErrnoException).code ?? error.name);
}

/** Leaves a note on an error; a later one replaces it. */
export function note(error: unknown, text: string, cause?: Error): void {
  if (error instanceof Error) NOTES.set(error, { text, cause });
}

/** The note on an error; undefined where there is none. */
export function noteOn(error: unknown): Note | undefined {
  return error instanceof Error ? NOTES.get(error) : undefined;
}

/** @param code the code of the server's reply, or undefined when the error does not come from the server */
export function explain(error: unknown, code: string | undefined, isUnsent: boolean): string {
  const known = noteOn(error);
  if (known !== undefined) return known.text;
  const text = textOf(error);
  switch (code) {
    case 'WRONGTYPE':
      return strangeValue();
    case 'NOPERM':
      return `the server's access rules forbid the command: ${text}`;
    case 'NOAUTH':
      return `the server requires a password, and the client has none. ${USE_PASSWORD}`;
    case 'WRONGPASS':
      return `the server rejected the client's username and password. ${CORRECT_PASSWORD}`;
    case 'OOM':
      return 'the server is out of memory (maxmemory) and rejects writes';
    case 'READONLY':
      return `the server is a read-only replica. ${USE_PRIMARY}`;
    default:
      return isUnsent ? `the server cannot be reached (${text}). ${CHECK_ADDRESS}` : text;
  }
}

/** A key that holds something else. @param found what it holds, as the object of a sentence */
export function strangeValue(key?: string, found = 'a value that is not a lock'): string {
  const named = key === undefined ? 'the key' : `the key ${JSON.stringify(key)}`;
  return `${named} holds ${found}; holdfast did not change it. ${OTHER_NAME}`;
}

/** What the access rules forbid. @param rules those that would permit it, as `ACL SETUSER` takes them */
export function forbidden(error: unknown, rules: readonly string[]): string {
  return `the server's access rules forbid the command: ${unended(textOf(error))}. Permit it: ACL SETUSER <user> ${rules.join(' ')}`;
}

/** What the state of the connection adds to a failure; undefined while the client is connected. */
export function explainCondition(condition: Condition | undefined): string | undefined {
  if (condition?.state === undefined) return undefined;
  const { client, state, isClosed, isTls, lastError } = condition;
  if (isClosed) return `${client} is closed (${state}). ${NEW_CLIENT}`;
  const last = lastError === undefined ? '' : `; its last error: ${textOf(lastError)}`;
  return withRemedy(`${client} is not connected (${state})${last}`, remedyFor(lastError, isTls));
}

/** The error that keeps the client from connecting; undefined where it was closed on purpose. */
export function causeIn(condition: Condition | undefined): Error | undefined {
  return condition?.isClosed === true ? undefined : condition?.lastError;
}

/** A connection that could not be made. */
export function explainConnecting(error: unknown, isTls: boolean): string {
  const text = error instanceof Error ? error.message || textOf(error) : String(error);
  return withRemedy(text, remedyFor(error, isTls));
}

/** The text without its full stop. */
function unended(text: string): string {
  return text.replace(/\.$/, '');
}

function withRemedy(text: string, remedy: string | undefined): string {
  return remedy === undefined ? text : `${unended(text)}. ${remedy}`;
}

/** @param error why there is no connection, as far as the client says */
function remedyFor(error: unknown, isTls: boolean): string | undefined {
  if (!(error instanceof Error)) return isTls ? DROP_TLS : CHECK_ADDRESS;
  const { code = '' } = error as NodeJS.ErrnoException;
  const { message } = error;
  if (message.startsWith('WRONGPASS')) return CORRECT_PASSWORD;
  if (message.startsWith('NOAUTH')) return USE_PASSWORD;
  if (UNTRUSTED.test(code)) return TRUST;
  const isSilent = NO_ANSWER.test(message);
  if (isTls && (isSilent || NOT_TLS.test(code))) return DROP_TLS;
  if (!isTls && HUNG_UP.test(`${code} ${message}`)) return USE_TLS;
  return isSilent || SYSTEM.test(code) ? CHECK_ADDRESS : undefined;
}

/**
 * Leaves a note on the error of a call, if the arrangement of the servers or the state of the client says more than the
 * error. @param code see `explain`
 */
export function noteFailure(
  error: unknown,
  code: string | undefined,
  isUnsent: boolean,
  driver: Pick<Driver, 'topology' | 'condition'>,
): void {
  if (code === 'MOVED' || code === 'CROSSSLOT') {
    if (driver.topology === 'cluster') return;
    note(error, `the server is a node of a Cluster, and the client is for a single server. ${USE_CLUSTER}`);
    return;
  }
  // After a login that failed, node-redis sends what is queued all the same.
  if (code === 'NOAUTH' && driver.condition?.()?.hasPassword === true) {
    note(error, explain(undefined, 'WRONGPASS', false));
    return;
  }
  if (code !== undefined || noteOn(error) !== undefined) return;
  const state = driver.condition?.();
  const why = explainCondition(state);
  if (why === undefined) return;
  const cause = causeIn(state);
  const isSaid = state?.isClosed === true || cause === error;
  const text = isUnsent ? 'the server cannot be reached' : unended(textOf(error));
  note(error, isSaid ? why : `${text}; ${why}`, cause);
}

/** Removes from an error what the library attached to a failed login: causes get printed. */
export function withoutLogin(error: unknown): unknown {
  for (let each = error; each instanceof Error; each = each.cause) {
    const command: unknown = Reflect.get(each, 'command');
    const name = typeof command === 'object' && command !== null ? Reflect.get(command, 'name') : undefined;
    if (/^(?:auth|hello)$/i.test(String(name))) Reflect.deleteProperty(each, 'command');
  }
  return error;
}
