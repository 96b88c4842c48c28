/**
 * The rules for Lua files. Each check reports all its errors; none changes anything.
 *
 * Keys, arguments and fragments are not declared in the file's own text, so in its syntax tree they are free variables:
 * those that the header declares, and the rest, which are globals.
 */
import type { Chunk, Node } from 'luaparse';
import { fragmentsOf, type LuaFile, type LuaFolder } from './files.ts';
import { GLOBALS } from './header.ts';
import { checkReplies } from './replies.ts';
import { type Call, firstArgument, isCall, isFree, lineOf, nameOf, nodesOf } from './syntax.ts';

/** A fragment contains only declarations: `local function`, and `local` constants for them. */
export function checkFragment(file: LuaFile, folder: LuaFolder): void {
  const fragments = fragmentsOf(file, folder);
  if (file.chunk === undefined) return;
  for (const statement of file.chunk.body) {
    const declares =
      statement.type === 'LocalStatement' || (statement.type === 'FunctionDeclaration' && statement.isLocal);
    if (!declares) file.report(lineOf(statement), 'a fragment only declares local functions');
  }
  checkPublish(file, file.chunk);
  if (fragments !== undefined) checkNames(file, file.chunk, fragments);
}

/** All checks of a script that need more than its header. */
export function checkScript(file: LuaFile, folder: LuaFolder): void {
  const fragments = fragmentsOf(file, folder);
  if (file.chunk === undefined) return;
  checkPublish(file, file.chunk);
  // If a fragment is missing, each of its functions would be reported as an unknown global.
  if (fragments === undefined) return;
  checkNames(file, file.chunk, fragments);
  checkReplies(file, file.chunk, fragments);
}

/** The names that a fragment declares for the files that include it. */
function declaredNames(fragment: LuaFile): string[] {
  return (fragment.chunk?.body ?? []).flatMap((statement) => {
    if (statement.type === 'LocalStatement') return statement.variables.map(({ name }) => name);
    return statement.type === 'FunctionDeclaration' && statement.identifier?.type === 'Identifier'
      ? [statement.identifier.name]
      : [];
  });
}

function checkNames(file: LuaFile, chunk: Chunk, fragments: readonly LuaFile[]): void {
  const { keys, args } = file.header;
  const known = new Map<string, string>();
  for (const { name } of keys) known.set(name, 'key');
  for (const { name } of args) known.set(name, 'argument');
  for (const fragment of fragments) {
    for (const name of declaredNames(fragment)) {
      const other = known.get(name);
      const line = file.header.includes.find((include) => include.name === fragment.name)?.line ?? 1;
      if (other !== undefined) file.report(line, `duplicate name ${name}: ${other} and ${fragment.name}`);
      known.set(name, fragment.name);
    }
  }

  const assigned = checkAssignments(file, chunk, known);
  const used = new Set<string>();
  for (const node of nodesOf(chunk)) {
    if (node.type !== 'Identifier' || !isFree(node) || assigned.has(node)) continue;
    used.add(node.name);
    if (node.name === 'KEYS' || node.name === 'ARGV') {
      const tag = node.name === 'KEYS' ? '@key' : '@arg';
      file.report(lineOf(node), `${node.name} in a body: declare ${tag} and use its name`);
    } else if (!known.has(node.name) && !GLOBALS.has(node.name)) {
      file.report(lineOf(node), `unknown global ${node.name}`);
    }
  }
  for (const { name, line } of keys) if (!used.has(name)) file.report(line, `key ${name} is never used`);
  for (const { name, line } of args) if (!used.has(name)) file.report(line, `argument ${name} is never used`);
}

/** Reports assignments to variables that are not the file's own; returns the assigned identifiers. */
function checkAssignments(file: LuaFile, chunk: Chunk, known: ReadonlyMap<string, string>): Set<Node> {
  const assigned = new Set<Node>();
  for (const node of nodesOf(chunk)) {
    const targets: readonly (Node | null)[] =
      node.type === 'AssignmentStatement'
        ? node.variables
        : node.type === 'FunctionDeclaration' && !node.isLocal
          ? [node.identifier]
          : [];
    for (const target of targets) {
      const field = target?.type === 'MemberExpression' || target?.type === 'IndexExpression';
      const variable = field ? target.base : target;
      if (variable?.type !== 'Identifier' || !isFree(variable)) continue;
      const owner = known.get(variable.name);
      if (!field) assigned.add(variable);
      if (owner === undefined) file.report(lineOf(node), `assignment to the global ${variable.name}`);
      else if (owner !== 'argument')
        file.report(lineOf(node), `assignment to ${variable.name}, which is declared`);
    }
  }
  return assigned;
}

/**
 * A release must not fail because its caller may not publish. A command that is only known at run time may be PUBLISH
 * as well, and so may any call through another name for `redis.call`.
 */
function checkPublish(file: LuaFile, chunk: Chunk): void {
  const callees = new Set<Node>();
  for (const node of nodesOf(chunk)) {
    if (isCall(node)) {
      checkCommand(file, node, callees);
    } else if (nameOf(node) === 'redis.call' && !callees.has(node)) {
      file.report(lineOf(node), 'redis.call under another name: call it directly, or through pcall');
    }
  }
}

function checkCommand(file: LuaFile, call: Call, callees: Set<Node>): void {
  callees.add(call.base);
  const command = firstArgument(call);
  const callee = nameOf(call.base);
  if (callee === 'pcall' && command !== undefined) callees.add(command);
  if (callee !== 'redis.call') return;
  if (command?.type !== 'StringLiteral') {
    file.report(lineOf(call), 'redis.call of a computed command, which may be PUBLISH: use redis.pcall');
  } else if (/^s?publish$/i.test(command.value)) {
    file.report(lineOf(call), `${command.value.toUpperCase()} must go through redis.pcall`);
  }
}
