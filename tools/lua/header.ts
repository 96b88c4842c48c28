/**
 * Reads the `---` header of a Lua file: its summary and its tags.
 *
 * Checks only the text of the header; `checks.ts` compares it with the body.
 */
import { type Reply, readReplies } from './returns.ts';

/** Reports an error in a line of the current file. */
export type Report = (line: number, message: string) => void;

export type Parameter = {
  readonly name: string;
  /** A Redis type for a key; `string`, `integer`, `ms` or `bytes` for an argument. */
  readonly type: string;
  readonly variadic: boolean;
  readonly line: number;
};

export type Include = { readonly name: string; readonly line: number };

export type Header = {
  summary: string;
  readonly keys: Parameter[];
  readonly args: Parameter[];
  readonly includes: Include[];
  /** Variants behind the guard are generated too. */
  isGuarded: boolean;
  returns: { readonly line: number; readonly replies: readonly Reply[] } | undefined;
  /** The number of header lines. */
  length: number;
};

/** The globals that a script may use; any other undeclared name is an error. */
export const GLOBALS: ReadonlySet<string> = new Set(
  (
    'redis cjson cmsgpack struct bit string table math tonumber tostring type pairs ipairs next select ' +
    'unpack pcall error assert'
  ).split(' '),
);

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'and break do else elseif end false for function if in local nil not or repeat return then true until ' +
    'while self KEYS ARGV'
  ).split(' '),
);

const KEY_TYPES = ['any', 'hash', 'list', 'set', 'stream', 'string', 'zset'];
/** `ms` is a time of at least one millisecond: text in the script, which passes it to commands unchanged. */
const ARGUMENT_TYPES = ['string', 'integer', 'ms', 'bytes'];

const HEADER_LINE = /^---(?: ?| (.*))$/;
const TAG = /^@(\S*)\s*(.*)$/;
const PARAMETER = /^([A-Za-z][A-Za-z0-9]*)\s+(\S+)/;
const STRAY_TAG = /^\s*--+\s*@(?:keys?|args?|returns|include|guarded)\b/;

/** Reads the header of one file. A fragment declares neither keys nor arguments nor replies. */
export function readHeader(text: string, kind: 'script' | 'fragment', report: Report): Header {
  const lines = text.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('---'));
  const length = end === -1 ? lines.length : end;
  const header: Header = {
    summary: '',
    keys: [],
    args: [],
    includes: [],
    isGuarded: false,
    returns: undefined,
    length,
  };

  const summary: string[] = [];
  let returnsText: string | undefined;
  let returnsLine = 0;
  let section: 'summary' | 'description' | 'returns' | 'tags' = 'summary';
  for (const [index, raw] of lines.slice(0, length).entries()) {
    const line = index + 1;
    const content = HEADER_LINE.exec(raw)?.[1]?.trimEnd() ?? '';
    const tag = TAG.exec(content.trimStart());
    if (tag !== null) {
      const [, name = '', rest = ''] = tag;
      section = name === 'returns' ? 'returns' : 'tags';
      if (kind === 'fragment' && name !== 'include') {
        report(line, `malformed header line: a fragment has no @${name}, only a summary and @include`);
      } else if (name === 'returns') {
        if (returnsText !== undefined) report(line, 'a second @returns; join the replies with |');
        returnsText = rest;
        returnsLine = line;
      } else {
        readTag(header, name, rest, line, report);
      }
    } else if (!HEADER_LINE.test(raw)) {
      report(line, 'malformed header line: a blank must follow ---');
    } else if (content.trim() === '') {
      if (section === 'summary' && summary.length > 0) section = 'description';
    } else if (section === 'summary') {
      summary.push(content.trim());
    } else if (section === 'returns') {
      returnsText += ` ${content.trim()}`;
    } else if (section === 'tags' && !content.startsWith('  ')) {
      report(line, 'malformed header line: text goes before the tags, or is indented to continue one');
    }
  }

  header.summary = summary.join(' ');
  if (header.summary === '') report(1, 'missing summary: the first line is --- and what the file does');
  if (returnsText !== undefined) {
    header.returns = { line: returnsLine, replies: readReplies(returnsText, (m) => report(returnsLine, m)) };
  } else if (kind === 'script') {
    report(1, 'missing @returns');
  }
  checkParameters(header, report);
  for (const [index, raw] of lines.entries()) {
    if (index >= length && STRAY_TAG.test(raw))
      report(index + 1, 'malformed header line: a tag below the header');
  }
  return header;
}

function readTag(header: Header, tag: string, rest: string, line: number, report: Report): void {
  if (tag === 'include') {
    if (!/^\S+$/.test(rest)) report(line, 'malformed header line: expected @include lib/<fragment>');
    else if (header.includes.some(({ name }) => name === rest)) report(line, `duplicate include ${rest}`);
    else header.includes.push({ name: rest, line });
    return;
  }
  if (tag === 'guarded') {
    if (rest !== '') report(line, 'malformed header line: @guarded stands alone');
    header.isGuarded = true;
    return;
  }
  const keyed = tag === 'key' || tag === 'keys';
  if (!keyed && tag !== 'arg' && tag !== 'args') {
    report(line, `malformed header line: unknown tag @${tag}`);
    return;
  }
  const [, name, type] = PARAMETER.exec(rest) ?? [];
  if (name === undefined || type === undefined) {
    report(line, `malformed header line: expected @${tag} <name> <type>`);
    return;
  }
  const types = keyed ? KEY_TYPES : ARGUMENT_TYPES;
  if (!types.includes(type)) {
    const what = keyed ? 'a key' : 'an argument';
    report(line, `malformed header line: ${type} is no type of ${what}; use ${types.join(', ')}`);
  }
  const list = keyed ? header.keys : header.args;
  list.push({ name, type, variadic: tag.endsWith('s'), line });
}

function checkParameters(header: Header, report: Report): void {
  const seen = new Set<string>();
  for (const { name, line } of [...header.keys, ...header.args]) {
    if (KEYWORDS.has(name) || GLOBALS.has(name)) report(line, `the name ${name} belongs to Lua`);
    if (seen.has(name)) report(line, `duplicate name ${name}`);
    seen.add(name);
  }
  for (const list of [header.keys, header.args]) {
    for (const { name, variadic, line } of list.slice(0, -1)) {
      if (variadic) report(line, `variadic ${name} must be the last`);
    }
  }
}
