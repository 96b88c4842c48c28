/**
 * The small grammar of `@returns`: `{ 'word', field, field: type } | { 'word' } as nil`.
 *
 * A reply is sent as an array that starts with its word. Two replies of a hot script may be sent bare: one without
 * fields as nil, and one with a single integer as that integer.
 */

export type Field = { readonly name: string; readonly type: string };

/** How a reply is sent that is not an array. */
export type Bare = 'nil' | 'integer';

/** One form of a reply: its status word and its fields. */
export type Reply = { readonly word: string; readonly fields: readonly Field[]; readonly bare?: Bare };

const FIELD_TYPES = ['integer', 'string', 'string?', 'integer...', 'string...'];
const SHAPE = /^\s*\{(.*)\}(?:\s+as\s+(nil|integer))?\s*$/;
const WORD = /^'([a-z][A-Za-z0-9]*)'$/;
const FIELD = /^([A-Za-z][A-Za-z0-9]*)(?:\s*:\s*(\S+))?$/;

/** Reads the replies; reports invalid ones and leaves them out. */
export function readReplies(text: string, report: (message: string) => void): Reply[] {
  const replies: Reply[] = [];
  for (const shape of text.split('|')) {
    const [, inner, bare] = SHAPE.exec(shape) ?? [];
    const [first = '', ...rest] = (inner ?? '').split(',').map((part) => part.trim());
    const word = WORD.exec(first)?.[1];
    if (word === undefined) {
      report(
        `malformed header line: expected { 'word', field, field: type } in @returns, not ${shape.trim()}`,
      );
      continue;
    }
    if (replies.some((reply) => reply.word === word)) report(`duplicate status word '${word}' in @returns`);
    const fields = readFields(word, rest, report);
    if (bare === undefined) replies.push({ word, fields });
    else replies.push({ word, fields, bare: checkBare(bare as Bare, word, fields, replies, report) });
  }
  return replies;
}

function checkBare(
  bare: Bare,
  word: string,
  fields: readonly Field[],
  before: readonly Reply[],
  report: (message: string) => void,
): Bare {
  if (before.some((reply) => reply.bare === bare)) report(`a second reply travels as ${bare}`);
  const fits = bare === 'nil' ? fields.length === 0 : fields.length === 1 && fields[0]?.type === 'integer';
  if (!fits) report(`'${word}' cannot travel as ${bare}: nil has no fields, an integer is the only one`);
  return bare;
}

function readFields(word: string, texts: readonly string[], report: (message: string) => void): Field[] {
  const fields: Field[] = [];
  for (const [index, text] of texts.entries()) {
    const [, name, type = 'integer'] = FIELD.exec(text) ?? [];
    if (name === undefined) {
      report(
        `malformed header line: expected a field of '${word}' in @returns, not ${text === '' ? 'nothing' : text}`,
      );
      continue;
    }
    if (!FIELD_TYPES.includes(type)) {
      report(`malformed header line: ${type} is no type of a field; use ${FIELD_TYPES.join(', ')}`);
    }
    if (type.endsWith('...') && index < texts.length - 1)
      report(`variadic field ${name} must be the last of '${word}'`);
    if (name === 'status') report(`the field name status in '${word}' is taken by the word itself`);
    if (fields.some((field) => field.name === name)) report(`duplicate field ${name} in '${word}'`);
    fields.push({ name, type });
  }
  return fields;
}
