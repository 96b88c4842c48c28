/**
 * What an error says about the command it answers: did it run, and is it worth sending again?
 *
 * The answer is read from the server's error code and from the few errors by which a client library says
 * that it never sent the command. "Not executed" is said only when it is certain; anything unrecognised
 * is unknown. The runtime decides what to do about it.
 */

import type { Driver } from './drivers/driver.ts';
import { DriverError, HoldfastError, OutcomeUnknownError, ReplicationError } from './errors.ts';
import { causeIn, explain, explainCondition, noteFailure, noteOn, textOf, withoutLogin } from './explain.ts';
import { isBranded } from './package-copies.ts';

/**
 * - `transient`: certainly not executed; the same command may succeed soon
 * - `refused`: the server or the library said no; sending it again would not help
 * - `unknown`: it may have run, be running, or run later
 */
export type Outcome = 'transient' | 'refused' | 'unknown';

const UNSENT_BRAND = Symbol.for('holdfast.unsent');

/** A command had no effect: a driver of ours rejected it before it was written, or its script declined to run. */
export class UnsentError extends Error {
  readonly [UNSENT_BRAND] = true;
}

/** A driver does not know whether a command ran. `toHoldfastError` adds the operation and the name of the lock. */
export class CommandInDoubtError extends OutcomeUnknownError {}

/** Codes by which a server rejects a command for now, before it has changed anything. */
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  'MOVED',
  'ASK',
  'TRYAGAIN',
  'CLUSTERDOWN',
  'LOADING',
  'BUSY',
  'READONLY',
  'MASTERDOWN',
  'NOREPLICAS',
  'MISCONF',
]);

const REFUSED_CODES: ReadonlySet<string> = new Set([
  'ERR',
  'OOM',
  'NOAUTH',
  'WRONGPASS',
  'NOPERM',
  'WRONGTYPE',
  'NOSCRIPT',
  'CROSSSLOT',
  'NOPROTO',
  'DENIED',
]);

/** Messages of the libraries for a command that was rejected before it was written. */
const UNSENT_MESSAGES: ReadonlySet<string> = new Set([
  'The client is closed',
  'The client is offline',
  'The queue is full',
  "Stream isn't writeable and enableOfflineQueue options is false",
  // node-redis looks for a server before it sends, or after a server has rejected the command.
  'Too many Cluster redirections',
  'All the root nodes are unavailable',
  'Cluster closed',
  'None of the sentinels are available',
  'no valid master node',
]);

/** The same, where the message names a server or a time. */
const UNSENT = /^(?:Cannot find node |Timeout waiting for a client(?: |$))/;

/** The classes of error replies; if a bundler has renamed them, only the known codes above count. */
const REPLY_CLASSES: ReadonlySet<string> = new Set(['ReplyError', 'ErrorReply', 'SimpleError', 'BlobError']);

/** How servers word that a script may not run a command: until version 7.0, and from version 7.2 on. */
const FORBIDDEN_TO_SCRIPT = /the user executing the script can't|^-?ERR ACL failure in script: /i;

/** Before version 7, Redis appended the error of a command called by a script to its own. */
const CALLED_BY_SCRIPT = /@user_script: ?\d+: -?([A-Z]{2,}) /;

function isReply(error: Error): boolean {
  for (let proto: object | null = error; proto !== null; proto = Object.getPrototypeOf(proto)) {
    if (REPLY_CLASSES.has(proto.constructor.name)) return true;
  }
  return error.name === 'ReplyError';
}

/** The error code of a server's reply, or undefined when the error does not come from the server. */
export function serverCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = /^-?([A-Z][A-Z0-9]*)(?: |$)/.exec(error.message)?.[1];
  if (code === 'ERR') {
    if (FORBIDDEN_TO_SCRIPT.test(error.message)) return 'NOPERM';
    const inner = CALLED_BY_SCRIPT.exec(error.message)?.[1];
    return inner !== undefined && isKnown(inner) ? inner : code;
  }
  if (code !== undefined && isKnown(code)) return code;
  return isReply(error) ? (code ?? 'ERR') : undefined;
}

/** The user of the connection may not do this. */
export function isForbidden(error: unknown): boolean {
  return serverCode(error) === 'NOPERM';
}

function isKnown(code: string): boolean {
  return TRANSIENT_CODES.has(code) || REFUSED_CODES.has(code);
}

/** The connection could not even be made, so nothing was written to it. */
function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return (
    isBranded(error, UNSENT_BRAND) ||
    syscall === 'connect' ||
    syscall === 'getaddrinfo' ||
    code === 'ECONNREFUSED' ||
    UNSENT_MESSAGES.has(error.message) ||
    UNSENT.test(error.message)
  );
}

/** Classifies the error of a driver call. */
export function classify(error: unknown): Outcome {
  if (error instanceof OutcomeUnknownError) return 'unknown';
  if (error instanceof HoldfastError) return error.cause === undefined ? 'refused' : classify(error.cause);
  const code = serverCode(error);
  if (code !== undefined) {
    const turnedAway =
      TRANSIENT_CODES.has(code) || (error as Error).message.startsWith('ERR max number of clients reached');
    return turnedAway ? 'transient' : 'refused';
  }
  if (isUnsent(error)) return 'transient';
  const subscribed = error instanceof Error && error.message.startsWith('Connection in subscriber mode');
  return subscribed ? 'refused' : 'unknown';
}

/** Nodes redirect a command to each other. A MOVED that no library followed may mean a client that knows one node. */
const SENT_AROUND =
  /^(?:ASK|TRYAGAIN) |^Too many Cluster redirections\. Last error: \w+: (?:ASK|TRYAGAIN|MOVED) /;

/** Whether the slot of a command is moving to another node: nothing is wrong, and that node will answer soon. */
export function isSlotMoving(error: unknown): boolean {
  return error instanceof Error && (SENT_AROUND.test(error.message) || isSlotMoving(error.cause));
}

/** Whether a failed attempt has to be undone: it may have run, or it ran and too few replicas acknowledged it. */
export function mayHaveRun(error: unknown): boolean {
  return error instanceof ReplicationError || classify(error) === 'unknown';
}

/**
 * The error of a call that was attempted more than once. One attempt that may have run makes the whole call doubtful,
 * whatever the answer to the last one.
 */
export function errorOfAll(lastError: unknown, inDoubt: boolean, what: string): HoldfastError {
  if (!inDoubt || mayHaveRun(lastError)) return toHoldfastError(lastError, what);
  const why = `one attempt got no answer and may have run; the last attempt failed: ${explained(lastError)}`;
  return outcomeUnknown(what, why, lastError);
}

/** @param what the operation, as an infinitive: `acquire "orders"` */
export function outcomeUnknown(what: string, why: string, cause?: unknown): OutcomeUnknownError {
  const message = `The outcome of the request to ${what} is unknown: ${why}`;
  return new OutcomeUnknownError(message, cause === undefined ? undefined : { cause: withoutLogin(cause) });
}

/** No answer came in time: says so, and what the state of the driver's connection adds. */
export function unanswered(
  what: string,
  why: string,
  driver?: Pick<Driver, 'condition'>,
  lastError?: unknown,
): OutcomeUnknownError {
  const { message, cause } = silence(why, driver);
  return outcomeUnknown(what, message, cause ?? lastError);
}

/** The same for a driver, which does not know the operation. */
export function unansweredCommand(why: string, driver: Pick<Driver, 'condition'>): CommandInDoubtError {
  const { message, cause } = silence(why, driver);
  return new CommandInDoubtError(message, cause === undefined ? undefined : { cause });
}

function silence(why: string, driver: Pick<Driver, 'condition'> | undefined) {
  const condition = driver?.condition?.();
  const state = explainCondition(condition);
  if (state === undefined) return { message: why, cause: undefined };
  return { message: `${why}; ${state}`, cause: causeIn(condition) };
}

/** Leaves a note on the error of a call, for its later explanation. */
export function noteError(error: unknown, driver: Pick<Driver, 'topology' | 'condition'>): void {
  noteFailure(error, serverCode(error), isUnsent(error), driver);
}

function explained(error: unknown): string {
  return explain(error, serverCode(error), isUnsent(error));
}

/**
 * Turns the error of a driver into an error of this package, with the original as `cause`.
 *
 * @param what the operation that failed, as an infinitive: `acquire "orders"`
 */
export function toHoldfastError(error: unknown, what: string): HoldfastError {
  if (error instanceof CommandInDoubtError) {
    return outcomeUnknown(
      what,
      noteOn(error)?.text ?? error.message,
      error.cause ?? noteOn(error)?.cause ?? error,
    );
  }
  if (error instanceof HoldfastError) return error;
  const known = noteOn(error);
  const outcome = classify(error);
  if (outcome === 'unknown') return outcomeUnknown(what, known?.text ?? textOf(error), known?.cause ?? error);
  // An error of ours is classified by its cause.
  const isAlike = known?.cause !== undefined && classify(known.cause) === outcome;
  const cause = withoutLogin(isAlike ? known.cause : error);
  return new DriverError(`Could not ${what}: ${explained(error)}`, { cause });
}
