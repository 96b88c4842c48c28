/**
 * The queries on luaparse's syntax tree that the checks need.
 */
import luaparse, {
  type CallExpression,
  type Chunk,
  type Comment,
  type Expression,
  type FunctionDeclaration,
  type Identifier,
  type Node,
  type ReturnStatement,
  type Statement,
  type StringCallExpression,
  type TableCallExpression,
} from 'luaparse';

export type Call = CallExpression | StringCallExpression | TableCallExpression;

/** A comment with its position in the text; the published types omit the range. */
export type PlacedComment = Comment & { readonly range: readonly [start: number, end: number] };

/** Parses as Lua 5.1; a syntax error is thrown as `{ line, message }`. */
export function parseLua(text: string): Chunk {
  return luaparse.parse(text, {
    luaVersion: '5.1',
    scope: true,
    locations: true,
    ranges: true,
    // The default mode does not keep the values of strings.
    encodingMode: 'pseudo-latin1',
  });
}

/** The line and the text of an error thrown by `parseLua`. */
export function syntaxError(error: unknown): { line: number; message: string } {
  const { line, message } = error as { line?: number; message?: string };
  if (typeof line !== 'number' || typeof message !== 'string') throw error;
  return { line, message: message.replace(/^\[\d+:\d+\] /, '') };
}

export function commentsOf(chunk: Chunk): PlacedComment[] {
  return (chunk.comments ?? []) as PlacedComment[];
}

export function lineOf(node: Node): number {
  return node.loc?.start.line ?? 1;
}

/** This node and every node below it, outermost first; without those of type `skip`. */
export function* nodesOf(node: Node, skip?: Node['type']): Generator<Node> {
  yield node;
  for (const [property, value] of Object.entries(node)) {
    if (property === 'comments' || property === 'globals') continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child) && child.type !== skip) yield* nodesOf(child, skip);
    }
  }
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
  );
}

/** Whether the identifier is a variable that this file does not declare. Fields and table keys are not variables. */
export function isFree(identifier: Identifier): boolean {
  return (identifier as Identifier & { isLocal?: boolean }).isLocal === false;
}

export function isCall(node: Node): node is Call {
  return (
    node.type === 'CallExpression' ||
    node.type === 'StringCallExpression' ||
    node.type === 'TableCallExpression'
  );
}

/** `redis.call` for a member of a variable, `now` for a variable; undefined for anything else. */
export function nameOf(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name;
  if (node.type !== 'MemberExpression' || node.base.type !== 'Identifier') return undefined;
  return `${node.base.name}${node.indexer}${node.identifier.name}`;
}

export function firstArgument(call: Call): Expression | undefined {
  if (call.type === 'CallExpression') return call.arguments[0];
  return call.type === 'StringCallExpression' ? call.argument : call.arguments;
}

/** The `return` statements of a body, without those of nested functions. */
export function returnsOf(body: readonly Statement[]): ReturnStatement[] {
  const found: ReturnStatement[] = [];
  for (const statement of body) {
    if (statement.type === 'FunctionDeclaration') continue;
    for (const node of nodesOf(statement, 'FunctionDeclaration')) {
      if (node.type === 'ReturnStatement') found.push(node);
    }
  }
  return found;
}

/** The named functions declared anywhere in the chunk. */
export function functionsOf(chunk: Chunk): Map<string, FunctionDeclaration> {
  const found = new Map<string, FunctionDeclaration>();
  for (const node of nodesOf(chunk)) {
    if (node.type === 'FunctionDeclaration' && node.identifier?.type === 'Identifier') {
      found.set(node.identifier.name, node);
    }
  }
  return found;
}

/** Whether every path through these statements ends in a `return`. */
export function alwaysReturns(body: readonly Statement[]): boolean {
  const last = body.at(-1);
  if (last?.type === 'ReturnStatement') return true;
  if (last?.type === 'DoStatement') return alwaysReturns(last.body);
  if (last?.type !== 'IfStatement') return false;
  return (
    last.clauses.at(-1)?.type === 'ElseClause' && last.clauses.every((clause) => alwaysReturns(clause.body))
  );
}
