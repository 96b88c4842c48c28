/**
 * The typed interface to one Lua script: named keys and arguments in, a tagged union out.
 *
 * `generated.ts` describes every script; positions come from there and are never typed by hand. Errors of the server
 * other than NOSCRIPT pass through unchanged: their meaning is decided elsewhere.
 */
import type { Driver, ScriptArgument, ScriptReply } from '../drivers/driver.ts';
import { CommandInDoubtError } from '../outcome.ts';
import { isRefused, noteRefused, type UsedKey } from './refused.ts';

/** `string?` may be nil; `...` is the tail of the reply, as an array. */
type FieldType = 'integer' | 'string' | 'string?' | 'integer...' | 'string...';
type FieldValue = number | string | null | (number | string)[];
type Fields = readonly (readonly [name: string, type: FieldType])[];

/** A `ms` is an integer of at least 1; `...` is a list, which comes last. */
type ParameterType = `${'string' | 'integer' | 'ms' | 'bytes'}${'' | '...'}`;
type Parameters = readonly (readonly [name: string, type: ParameterType])[];

/** The Redis type of a key, or any. */
type KeyType = `${'any' | 'hash' | 'list' | 'set' | 'stream' | 'string' | 'zset'}${'' | '...'}`;
type KeyParameters = readonly (readonly [name: string, type: KeyType])[];

/** The generator's description of a script. */
export interface ScriptDescriptor<Reply extends { status: string }> {
  /** Folder and file below `lua/`, as in `lock/acquire`. */
  readonly name: string;
  readonly sha1: string;
  readonly source: string;
  /** In the order in which the script expects them. */
  readonly keys: KeyParameters;
  readonly args: Parameters;
  /** The fields that follow each status word. */
  readonly replies: Readonly<Record<Reply['status'], Fields>>;
  /** The reply that is sent as nil. */
  readonly nil?: Reply['status'];
  /** The reply that is sent as its only field, an integer. */
  readonly integer?: Reply['status'];
}

/** What runs scripts: a driver, or a connection of its own. */
export interface ScriptRunner extends Pick<Driver, 'script'> {
  /** What answers questions about a failure sooner; left out where the runner itself does. */
  readonly inquirer?: Pick<Driver, 'script'>;
}

const DECIMAL = /^-?\d+$/;
const LONGEST_QUOTED_REPLY = 200;

/** One script of the server, ready to be run through any driver. */
export class Script<Keys, Args, Reply extends { status: string }> {
  readonly name: string;
  readonly sha1: string;
  readonly source: string;
  readonly #keys: readonly Parameter[];
  readonly #keyTypes: KeyParameters;
  readonly #args: readonly Parameter[];
  // A Map, because a word such as `constructor` would be found on any object.
  readonly #replies: ReadonlyMap<string, Fields>;
  readonly #nil: Reply | undefined;
  readonly #integer: { readonly status: string; readonly field: string } | undefined;
  readonly #decode = (reply: ScriptReply): Reply => {
    if (reply === null && this.#nil !== undefined) return this.#nil;
    if (typeof reply !== 'number' || this.#integer === undefined) return this.#decodeArray(reply);
    const { status, field } = this.#integer;
    return { status, [field]: reply } as unknown as Reply;
  };

  constructor(descriptor: ScriptDescriptor<Reply>) {
    const { nil, integer: status } = descriptor;
    this.name = descriptor.name;
    this.sha1 = descriptor.sha1;
    this.source = descriptor.source;
    this.#keys = descriptor.keys.map(parameterOf);
    this.#keyTypes = descriptor.keys;
    this.#args = descriptor.args.map(parameterOf);
    this.#replies = new Map(Object.entries<Fields>(descriptor.replies));
    this.#nil = nil && ({ status: nil } as Reply);
    this.#integer = status && { status, field: this.#replies.get(status)?.[0]?.[0] ?? '' };
  }

  /**
   * Runs the script by its SHA-1, or by its source if the server does not have it yet.
   *
   * Rejects with an OutcomeUnknownError for a reply that the script does not declare: inside a user's MULTI the reply
   * is QUEUED, and the script runs later. Otherwise it rejects with the driver's error.
   *
   * @throws TypeError, before anything is sent, for a number that is not a safe integer
   */
  run(driver: ScriptRunner, keys: Keys, args: Args): Promise<Reply> {
    return this.#send(driver, 'evalsha', keys, args).then(this.#decode, (error: unknown) => {
      if (!isNoScript(error)) return this.#failed(driver, keys, error);
      // EVAL also caches the script, so this happens once per server.
      const sent = this.#send(driver, 'eval', keys, args);
      return sent.then(this.#decode, (reason: unknown) => this.#failed(driver, keys, reason));
    });
  }

  /** Rethrows the error, after a note about what the server refused. */
  #failed(driver: ScriptRunner, keys: Keys, error: unknown): Promise<never> {
    if (!isRefused(error)) throw error;
    return noteRefused(driver, error, this, this.#usedKeys(keys as Values)).then(() => {
      throw error;
    });
  }

  #usedKeys(keys: Values): UsedKey[] {
    return this.#keyTypes.flatMap(([name, type]) =>
      [keys[name] ?? []].flat().map((key) => ({ key: String(key), type: type.replace('...', '') })),
    );
  }

  #send(driver: ScriptRunner, name: 'eval' | 'evalsha', keys: Keys, args: Args): Promise<ScriptReply> {
    // Of the right length from the start: an array that grows is copied.
    const command = new Array<ScriptArgument>(3 + this.#keys.length + this.#args.length);
    command[0] = name;
    command[1] = name === 'eval' ? this.source : this.sha1;
    let length = 3;
    for (const key of this.#keys) length = put(command, length, key, keys as Values);
    command[2] = String(length - 3);
    const firstKey = length === 3 ? undefined : (command[3] as string);
    for (const argument of this.#args) length = put(command, length, argument, args as Values);
    // An empty list has no place.
    command.length = length;
    return driver.script(command, undefined, firstKey);
  }

  #decodeArray(reply: ScriptReply): Reply {
    if (!Array.isArray(reply)) throw this.#unexpected(reply, 'it is not an array');
    const status = reply[0];
    const fields = typeof status === 'string' ? this.#replies.get(status) : undefined;
    if (fields === undefined)
      throw this.#unexpected(reply, 'its first element is not a status of this script');

    const decoded: Record<string, FieldValue> = { status: status as string };
    let position = 1;
    for (const [name, type] of fields) {
      let value: FieldValue | undefined;
      if (type === 'integer...' || type === 'string...') {
        value = decodeTail(reply, position, type === 'integer...' ? 'integer' : 'string');
        position = reply.length;
      } else {
        value = decodeField(reply[position], type);
        position += 1;
      }
      if (value === undefined) throw this.#unexpected(reply, `"${name}" is not of type ${type}`);
      decoded[name] = value;
    }
    if (reply.length > position) throw this.#unexpected(reply, 'it is longer than declared');
    return decoded as unknown as Reply;
  }

  #unexpected(reply: ScriptReply, why: string): CommandInDoubtError {
    const text = JSON.stringify(reply) ?? String(reply);
    const quoted = text.length > LONGEST_QUOTED_REPLY ? `${text.slice(0, LONGEST_QUOTED_REPLY)}…` : text;
    return new CommandInDoubtError(`unexpected reply of script ${this.name}: ${why}: ${quoted}`);
  }
}

/** Makes a script from its description; the generator writes the type parameters. */
export function defineScript<Keys, Args, Reply extends { status: string }>(
  descriptor: ScriptDescriptor<Reply>,
): Script<Keys, Args, Reply> {
  return new Script(descriptor);
}

type Scalar = string | number | Buffer;
type Values = Readonly<Record<string, Scalar | readonly Scalar[]>>;

/** Checks only numbers: options were checked before, and any text is valid. */
type Encode = (value: number) => string;

interface Parameter {
  readonly name: string;
  readonly isList: boolean;
  /** Left out where a value travels as it is. */
  readonly encode: Encode | undefined;
}

const ENCODERS: Readonly<Record<string, Encode>> = { integer, ms };

function parameterOf([name, type]: Parameters[number] | KeyParameters[number]): Parameter {
  return { name, isList: type.endsWith('...'), encode: ENCODERS[type.replace('...', '')] };
}

/** Puts a value, or each value of a list, into the command from this place on; returns the next place. */
function put(
  command: ScriptArgument[],
  at: number,
  { name, isList, encode }: Parameter,
  values: Values,
): number {
  const value = values[name];
  if (!isList) {
    command[at] = encode === undefined ? (value as ScriptArgument) : encode(value as number);
    return at + 1;
  }
  let next = at;
  for (const item of value as readonly Scalar[]) {
    command[next++] = encode === undefined ? (item as ScriptArgument) : encode(item as number);
  }
  return next;
}

function integer(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  throw new TypeError(`A script takes safe integers, not ${value}`);
}

/** An expiry of less than 1 would delete the key. */
function ms(value: number): string {
  if (Number.isSafeInteger(value) && value >= 1) return String(value);
  throw new TypeError(`A script takes whole milliseconds of at least 1, not ${value}`);
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** Returns undefined for a value of the wrong type. */
function decodeField(
  value: ScriptReply | undefined,
  type: 'integer' | 'string' | 'string?',
): number | string | null | undefined {
  if (type === 'integer') return decodeInteger(value);
  if (typeof value === 'string') return value;
  // Lua ends an array at its first nil, so a nil at the end of a reply is a missing element.
  return type === 'string?' && (value === null || value === undefined) ? null : undefined;
}

function decodeTail(
  reply: readonly ScriptReply[],
  start: number,
  type: 'integer' | 'string',
): (number | string)[] | undefined {
  const tail: (number | string)[] = [];
  for (let index = start; index < reply.length; index += 1) {
    const value = decodeField(reply[index], type);
    if (value === undefined || value === null) return undefined;
    tail.push(value);
  }
  return tail;
}

/** Scripts may send an integer as decimal text: Lua's own formatting would round a large one. */
function decodeInteger(value: ScriptReply | undefined): number | undefined {
  const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : undefined;
}
