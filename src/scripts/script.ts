/**
 * The typed doorway to one Lua script: named keys and arguments in, a tagged union out.
 *
 * `generated.ts` describes every script; positions come from there and are never typed by hand. What an
 * error of the server means is decided elsewhere: all but NOSCRIPT pass through untouched.
 */
import { createHash } from 'node:crypto';
import type { Driver, ScriptArgument, ScriptReply } from '../drivers/driver.ts';
import { OutcomeUnknownError } from '../errors.ts';

export type KeyValues = Readonly<Record<string, string | readonly string[]>>;
type ArgumentScalar = string | number | Buffer;
export type ArgumentValues = Readonly<Record<string, ArgumentScalar | readonly ArgumentScalar[]>>;

type ArgumentKind = 'string' | 'integer' | 'bytes';
/** `...` marks the last argument of a script that takes any number of them. */
type ArgumentType = ArgumentKind | `${ArgumentKind}...`;
/** `string?` may be nil; `...` is the tail of the reply, as an array. */
type FieldType = 'integer' | 'string' | 'string?' | 'integer...' | 'string...';
type FieldValue = number | string | null | (number | string)[];
type Fields = readonly (readonly [name: string, type: FieldType])[];

/** What the generator knows about a script. */
export interface ScriptDescriptor<Keys, Args, Reply extends { status: string }> {
  /** Folder and file below `lua/`, as in `lock/acquire`. */
  readonly name: string;
  readonly sha1: string;
  readonly source: string;
  /** In the order in which the script expects them. */
  readonly keys: readonly (keyof Keys & string)[];
  /** The name of a list of keys that follows the others. */
  readonly variadicKey?: keyof Keys & string;
  readonly args: readonly (readonly [name: keyof Args & string, type: ArgumentType])[];
  /** The fields that follow each status word. */
  readonly replies: Readonly<Record<Reply['status'], Fields>>;
}

type ScriptRunner = Pick<Driver, 'eval' | 'evalSha'>;

const DECIMAL = /^-?\d+$/;
const LONGEST_QUOTED_REPLY = 200;

/** One script of the server, ready to be run through any driver. */
export class Script<Keys extends KeyValues, Args extends ArgumentValues, Reply extends { status: string }> {
  readonly name: string;
  readonly sha1: string;
  readonly source: string;
  readonly #descriptor: ScriptDescriptor<Keys, Args, Reply>;
  readonly #keys: readonly string[];
  readonly #variadicKey: string | undefined;
  readonly #args: readonly (readonly [name: string, type: ArgumentType])[];
  // A Map, because a word such as `constructor` would be found on any object.
  readonly #replies: ReadonlyMap<string, Fields>;
  /** What `behind` has made, by what it was put behind. */
  readonly #behind = new WeakMap<object, unknown>();

  constructor(descriptor: ScriptDescriptor<Keys, Args, Reply>) {
    this.#descriptor = descriptor;
    this.name = descriptor.name;
    this.sha1 = descriptor.sha1;
    this.source = descriptor.source;
    this.#keys = descriptor.keys;
    this.#variadicKey = descriptor.variadicKey;
    this.#args = descriptor.args;
    this.#replies = new Map(Object.entries<Fields>(descriptor.replies));
  }

  /**
   * Runs the script by its SHA-1, by its source when the server does not know it yet.
   *
   * Rejects with a TypeError, before anything is sent, for a value that is not of its declared type; with
   * an OutcomeUnknownError for a reply that the script does not declare: inside a MULTI of the user's it is QUEUED,
   * and the script runs later; with the driver's own error otherwise.
   */
  async run(driver: ScriptRunner, keys: Keys, args: Args): Promise<Reply> {
    const keyList = this.#orderKeys(keys);
    const argumentList = this.#orderArguments(args);
    let reply: ScriptReply;
    try {
      reply = await driver.evalSha(this.sha1, keyList, argumentList);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      // EVAL also caches the script, so this happens once per server.
      reply = await driver.eval(this.source, keyList, argumentList);
    }
    return this.#decode(reply);
  }

  /**
   * This script behind another: both run as one, and this one only if the first answers `pass`. Any other answer of
   * the first is the reply. Neither may take a variable number of keys or arguments.
   */
  behind<
    FirstKeys extends KeyValues,
    FirstArgs extends ArgumentValues,
    FirstReply extends { status: string },
  >(
    first: Script<FirstKeys, FirstArgs, FirstReply>,
    pass: FirstReply['status'],
  ): Script<Keys & FirstKeys, Args & FirstArgs, Reply | FirstReply> {
    type Both = Script<Keys & FirstKeys, Args & FirstArgs, Reply | FirstReply>;
    const known = this.#behind.get(first) as Both | undefined;
    if (known !== undefined) return known;
    const [before, own] = [first.#descriptor, this.#descriptor];
    const source = `local function cut(list, count)
  local tail = {}
  for i = count, 1, -1 do tail[i] = table.remove(list) end
  return tail
end
local verdict = (function(KEYS, ARGV)
${before.source}end)(cut(KEYS, ${before.keys.length}), cut(ARGV, ${before.args.length}))
if verdict[1] ~= '${pass}' then return verdict end
${own.source}`;
    const both: Both = new Script({
      name: `${own.name} behind ${before.name}`,
      sha1: createHash('sha1').update(source).digest('hex'),
      source,
      keys: [...own.keys, ...before.keys],
      args: [...own.args, ...before.args],
      replies: { ...own.replies, ...before.replies } as Record<(Reply | FirstReply)['status'], Fields>,
    });
    this.#behind.set(first, both);
    return both;
  }

  #orderKeys(keys: KeyValues): string[] {
    const ordered: string[] = [];
    for (const name of this.#keys) ordered.push(this.#key(name, keys[name]));
    const variadic = this.#variadicKey;
    if (variadic !== undefined) {
      for (const key of this.#list(variadic, keys[variadic])) ordered.push(this.#key(variadic, key));
    }
    return ordered;
  }

  #orderArguments(args: ArgumentValues): ScriptArgument[] {
    const ordered: ScriptArgument[] = [];
    for (const [name, type] of this.#args) {
      const value = args[name];
      switch (type) {
        case 'string':
        case 'integer':
        case 'bytes':
          ordered.push(this.#argument(name, type, value));
          break;
        default: {
          const kind = type.slice(0, -3) as ArgumentKind;
          for (const item of this.#list(name, value)) ordered.push(this.#argument(name, kind, item));
        }
      }
    }
    return ordered;
  }

  #key(name: string, value: unknown): string {
    if (typeof value === 'string') return value;
    throw new TypeError(`Script ${this.name}: the key "${name}" must be a string, not ${describe(value)}`);
  }

  #argument(name: string, kind: ArgumentKind, value: unknown): ScriptArgument {
    if (kind === 'integer') {
      if (Number.isSafeInteger(value)) return String(value);
      throw new TypeError(`Script ${this.name}: "${name}" must be a safe integer, not ${describe(value)}`);
    }
    if (kind === 'string' ? typeof value === 'string' : Buffer.isBuffer(value))
      return value as ScriptArgument;
    const wanted = kind === 'string' ? 'a string' : 'a Buffer';
    throw new TypeError(`Script ${this.name}: "${name}" must be ${wanted}, not ${describe(value)}`);
  }

  #list(name: string, value: unknown): readonly unknown[] {
    if (Array.isArray(value)) return value;
    throw new TypeError(`Script ${this.name}: "${name}" must be an array, not ${describe(value)}`);
  }

  #decode(reply: ScriptReply): Reply {
    if (!Array.isArray(reply)) throw this.#unexpected(reply, 'it is not an array');
    const status = reply[0];
    const fields = typeof status === 'string' ? this.#replies.get(status) : undefined;
    if (fields === undefined) throw this.#unexpected(reply, 'it starts with no status word of this script');

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

  #unexpected(reply: ScriptReply, why: string): OutcomeUnknownError {
    const text = JSON.stringify(reply) ?? String(reply);
    const quoted = text.length > LONGEST_QUOTED_REPLY ? `${text.slice(0, LONGEST_QUOTED_REPLY)}…` : text;
    return new OutcomeUnknownError(`Unexpected reply of script ${this.name}: ${why}: ${quoted}`);
  }
}

/** Makes a script out of its description; the type parameters are written by the generator. */
export function defineScript<
  Keys extends KeyValues,
  Args extends ArgumentValues,
  Reply extends { status: string },
>(descriptor: ScriptDescriptor<Keys, Args, Reply>): Script<Keys, Args, Reply> {
  return new Script(descriptor);
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** Undefined stands for a value of the wrong type. */
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

function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : value === null ? 'null' : typeof value;
}
