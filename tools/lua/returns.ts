/**
 * The small grammar of `@returns`: `{ 'word', field, field: type } | { 'word' }`.
 */

export type Field = { readonly name: string; readonly type: string };

/** One shape of a reply: its status word and what follows it. */
export type Reply = { readonly word: string; readonly fields: readonly Field[] };

const FIELD_TYPES = ['integer', 'string', 'string?', 'integer...', 'string...'];
const WORD = /^'([a-z][A-Za-z0-9]*)'$/;
const FIELD = /^([A-Za-z][A-Za-z0-9]*)(?:\s*:\s*(\S+))?$/;

/** Reads the replies; what is wrong is reported and left out. */
export function readReplies(text: string, report: (message: string) => void): Reply[] {
  const replies: Reply[] = [];
  for (const shape of text.split('|')) {
    const inner = /^\s*\{(.*)\}\s*$/.exec(shape)?.[1];
    const [first = '', ...rest] = (inner ?? '').split(',').map((part) => part.trim());
    const word = WORD.exec(first)?.[1];
    if (word === undefined) {
      report(
        `malformed header line: expected { 'word', field, field: type } in @returns, not ${shape.trim()}`,
      );
      continue;
    }
    if (replies.some((reply) => reply.word === word)) report(`duplicate status word '${word}' in @returns`);
    replies.push({ word, fields: readFields(word, rest, report) });
  }
  return replies;
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
