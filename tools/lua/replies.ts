/**
 * Compares the replies of a script with its `@returns`: every return is a declared reply, and every declared reply is
 * returned.
 *
 * Follows a reply through local variables and through calls of functions of this file and its fragments; trusts what it
 * cannot follow (a reply that was stored and read back).
 */
import type { Chunk, Expression, FunctionDeclaration, TableConstructorExpression } from 'luaparse';
import type { LuaFile } from './files.ts';
import type { Reply } from './returns.ts';
import { alwaysReturns, functionsOf, isCall, lineOf, nameOf, nodesOf, returnsOf } from './syntax.ts';

type Found = {
  readonly word: string;
  readonly table: TableConstructorExpression;
  readonly complete: boolean;
};

type Scope = {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  /** All values assigned to each variable of the script. */
  readonly values: ReadonlyMap<string, readonly Expression[]>;
};

/** Reports undeclared replies, declared replies that are never returned, and paths without a reply. */
export function checkReplies(file: LuaFile, chunk: Chunk, fragments: readonly LuaFile[]): void {
  const declared = new Map(file.header.returns?.replies.map((reply) => [reply.word, reply]));
  const scope = { functions: scopeFunctions(chunk, fragments), values: variableValues(chunk) };
  const given = new Set<string>();
  const bare = [...declared.values()].filter((reply) => reply.bare !== undefined);

  for (const statement of returnsOf(chunk.body)) {
    const line = lineOf(statement);
    const [value, ...more] = statement.arguments;
    if (value !== undefined && more.length === 0 && isBare(value, scope) && bare.length > 0) {
      for (const { word } of bare) given.add(word);
      continue;
    }
    if (value === undefined || more.length > 0 || !isReply(value, scope)) {
      file.report(line, "a script returns { 'word', … }, or calls a function or redis.error_reply for it");
      continue;
    }
    for (const found of follow(value, scope, new Set())) {
      given.add(found.word);
      const reply = declared.get(found.word);
      if (reply !== undefined) checkLength(reply, found, (message) => file.report(line, message));
      else if (file.header.returns !== undefined) {
        file.report(line, `returns '${found.word}', which @returns does not declare`);
      }
    }
  }
  if (!alwaysReturns(chunk.body)) {
    file.report(lastLine(chunk), 'the script can end without a return');
  }

  // A stored reply may be one that only a fragment contains.
  for (const declaration of scope.functions.values()) {
    for (const found of followFunction(declaration, scope, new Set())) given.add(found.word);
  }
  for (const word of declared.keys()) {
    if (!given.has(word))
      file.report(file.header.returns?.line ?? 1, `'${word}' is declared but never returned`);
  }
}

function scopeFunctions(chunk: Chunk, fragments: readonly LuaFile[]): Map<string, FunctionDeclaration> {
  const chunks = [...fragments.map((fragment) => fragment.chunk), chunk];
  return new Map(chunks.flatMap((each) => (each === undefined ? [] : [...functionsOf(each)])));
}

function variableValues(chunk: Chunk): Map<string, Expression[]> {
  const values = new Map<string, Expression[]>();
  for (const node of nodesOf(chunk)) {
    if (node.type !== 'LocalStatement' && node.type !== 'AssignmentStatement') continue;
    for (const [index, variable] of node.variables.entries()) {
      const value = node.init[index];
      if (variable.type !== 'Identifier' || value === undefined) continue;
      values.set(variable.name, [...(values.get(variable.name) ?? []), value]);
    }
  }
  return values;
}

function isReply(value: Expression, scope: Scope): boolean {
  if (value.type === 'TableConstructorExpression') return wordOf(value) !== undefined;
  if (value.type === 'Identifier') {
    return (
      scope.values.get(value.name)?.some((each) => each.type !== 'Identifier' && isReply(each, scope)) ??
      false
    );
  }
  if (!isCall(value)) return false;
  const name = nameOf(value.base);
  return name === 'redis.error_reply' || (name !== undefined && scope.functions.has(name));
}

/** Anything but an array: a word, a number, a command's reply, or a function's result from one. */
function isBare(value: Expression, scope: Scope): boolean {
  if (value.type === 'TableConstructorExpression') return false;
  if (!isCall(value)) return true;
  const name = nameOf(value.base);
  if (name === 'redis.error_reply') return false;
  const declaration = name === undefined ? undefined : scope.functions.get(name);
  return declaration === undefined || followFunction(declaration, scope, new Set()).length === 0;
}

function wordOf(table: TableConstructorExpression): string | undefined {
  const first = table.fields[0];
  return first?.type === 'TableValue' && first.value.type === 'StringLiteral' ? first.value.value : undefined;
}

function follow(value: Expression, scope: Scope, seen: Set<Expression>): Found[] {
  if (seen.has(value)) return [];
  seen.add(value);
  if (value.type === 'TableConstructorExpression') {
    const word = wordOf(value);
    return word === undefined ? [] : [{ word, table: value, complete: true }];
  }
  if (value.type === 'Identifier') {
    const values = scope.values.get(value.name) ?? [];
    return values
      .flatMap((each) => follow(each, scope, seen))
      .map((found) => ({ ...found, complete: false }));
  }
  if (!isCall(value)) return [];
  const declaration = scope.functions.get(nameOf(value.base) ?? '');
  return declaration === undefined ? [] : followFunction(declaration, scope, seen);
}

function followFunction(declaration: FunctionDeclaration, scope: Scope, seen: Set<Expression>): Found[] {
  return returnsOf(declaration.body).flatMap(({ arguments: [value] }) =>
    value === undefined || value.type === 'Identifier' ? [] : follow(value, scope, seen),
  );
}

function checkLength(reply: Reply, { table, complete }: Found, report: (message: string) => void): void {
  const given = table.fields.length - 1;
  const last = table.fields.at(-1)?.value;
  const open = last !== undefined && (isCall(last) || last.type === 'VarargLiteral');
  const rest = reply.fields.at(-1)?.type.endsWith('...') ?? false;
  const most = rest ? Number.POSITIVE_INFINITY : reply.fields.length;
  const required = reply.fields.findLastIndex(({ type }) => !type.endsWith('?') && !type.endsWith('...')) + 1;
  if (given > most || (given < required && complete && !open)) {
    report(`returns '${reply.word}' with ${given} fields where @returns declares ${reply.fields.length}`);
  }
}

function lastLine(chunk: Chunk): number {
  return chunk.body.at(-1)?.loc?.end.line ?? 1;
}
