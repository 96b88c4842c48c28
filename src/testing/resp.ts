/**
 * The Redis protocol, as far as tests need it: writes commands, reads values of RESP2 and RESP3.
 *
 * Reads whole values from a buffer; `RespStream` and its callers keep the bytes of an incomplete value.
 */

/** An argument of a raw command; text travels as UTF-8. */
export type RawArgument = string | number | Buffer;

/** A server's reply. Bulk strings become UTF-8 text, a map a flat array of keys and values. */
export type RawReply = string | number | boolean | null | RawReply[] | RawError;

/** An error reply; the message is the server's text. */
export class RawError extends Error {
  override readonly name = 'RawError';
}

/** One value and its bytes. */
export interface Frame {
  /** The type byte as a character: `*` array, `$` bulk string, `>` push … */
  readonly type: string;
  readonly value: RawReply;
  readonly bytes: Buffer;
}

/** Encodes a command as clients send it: an array of bulk strings. */
export function encodeCommand(args: readonly RawArgument[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`*${args.length}\r\n`)];
  for (const arg of args) {
    const bytes = Buffer.isBuffer(arg) ? arg : Buffer.from(String(arg));
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'));
  }
  return Buffer.concat(parts);
}

function toLength(digits: string): number {
  if (!/^\d+$/.test(digits)) throw new Error(`Not RESP: a length of ${JSON.stringify(digits)}`);
  return Number(digits);
}

interface Parsed {
  readonly value: RawReply;
  readonly end: number;
}

function readItems(buffer: Buffer, from: number, count: number): Parsed | undefined {
  const items: RawReply[] = [];
  let at = from;
  for (let index = 0; index < count; index += 1) {
    const item = readValue(buffer, at);
    if (item === undefined) return undefined;
    items.push(item.value);
    at = item.end;
  }
  return { value: items, end: at };
}

function readBulk(buffer: Buffer, type: string, from: number, length: number): Parsed | undefined {
  const end = from + length + 2;
  if (buffer.length < end) return undefined;
  const text = buffer.toString('utf8', from, from + length);
  return { value: type === '!' ? new RawError(text) : text, end };
}

/** Reads the value that starts at `at`; undefined if it is incomplete. Throws if it is not RESP. */
function readValue(buffer: Buffer, at: number): Parsed | undefined {
  const lineEnd = buffer.indexOf('\r\n', at, 'latin1');
  if (lineEnd < 0) return undefined;
  const type = String.fromCharCode(buffer[at] as number);
  const line = buffer.toString('utf8', at + 1, lineEnd);
  const end = lineEnd + 2;
  switch (type) {
    case '+':
    case '(':
      return { value: line, end };
    case '-':
      return { value: new RawError(line), end };
    case ':':
    case ',':
      return { value: Number(line), end };
    case '#':
      return { value: line === 't', end };
    case '_':
      return { value: null, end };
    case '$':
    case '!':
    case '=':
      return line === '-1' ? { value: null, end } : readBulk(buffer, type, end, toLength(line));
    case '*':
    case '~':
    case '>':
      return line === '-1' ? { value: null, end } : readItems(buffer, end, toLength(line));
    case '%':
      return readItems(buffer, end, 2 * toLength(line));
    case '|': {
      // An attribute is a map that decorates the value after it.
      const attributes = readItems(buffer, end, 2 * toLength(line));
      return attributes === undefined ? undefined : readValue(buffer, attributes.end);
    }
    default:
      throw new Error(`Not RESP: a value that starts with ${JSON.stringify(type)}`);
  }
}

/** Splits a byte stream, in chunks of any size, into whole values. */
export class RespStream {
  #rest: Buffer = Buffer.alloc(0);

  /** The bytes not yielded yet: an incomplete value, or bytes that are not RESP. */
  get rest(): Buffer {
    return this.#rest;
  }

  /** Adds a chunk and yields every value that it completes. Throws on bytes that are not RESP. */
  *push(chunk: Buffer): Generator<Frame, void, undefined> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length > 0) {
      const parsed = readValue(this.#rest, 0);
      if (parsed === undefined) return;
      const bytes = this.#rest.subarray(0, parsed.end);
      this.#rest = this.#rest.subarray(parsed.end);
      yield { type: String.fromCharCode(bytes[0] as number), value: parsed.value, bytes };
    }
  }
}
