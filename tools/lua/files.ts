/**
 * Reads the Lua folder: scripts in `<primitive>/<operation>.lua`, fragments in `lib/`, and their includes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chunk } from 'luaparse';
import { type Header, type Report, readHeader } from './header.ts';
import { parseLua, syntaxError } from './syntax.ts';

export type Problem = { readonly path: string; readonly line: number; readonly message: string };

export type LuaFile = {
  /** For display: `lua/lock/acquire.lua`. */
  readonly path: string;
  /** Without folder and extension: `lock/acquire`, `lib/now`. */
  readonly name: string;
  readonly text: string;
  readonly header: Header;
  /** Undefined if the file has a syntax error. */
  readonly chunk: Chunk | undefined;
  readonly report: Report;
};

export type LuaFolder = {
  readonly scripts: readonly LuaFile[];
  readonly fragments: ReadonlyMap<string, LuaFile>;
};

const FILE_NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*\/[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** Reads and parses every file; adds errors to `problems`. */
export function readLuaFolder(folder: string, problems: Problem[]): LuaFolder {
  const scripts: LuaFile[] = [];
  const fragments = new Map<string, LuaFile>();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.lua'))
    .map((name) => name.slice(0, -'.lua'.length))
    // By code unit, so that the order is the same on every machine.
    .sort((a, b) => (a < b ? -1 : 1));
  for (const name of names) {
    const text = readFileSync(join(folder, `${name}.lua`), 'utf8').replaceAll('\r\n', '\n');
    const file = readLuaFile(name, text, problems);
    if (isFragment(name)) fragments.set(name, file);
    else scripts.push(file);
  }
  return { scripts, fragments };
}

function isFragment(name: string): boolean {
  return name.startsWith('lib/');
}

function readLuaFile(name: string, text: string, problems: Problem[]): LuaFile {
  const path = `lua/${name}.lua`;
  const report: Report = (line, message) => {
    problems.push({ path, line, message });
  };
  if (!FILE_NAME.test(name)) report(1, 'a Lua file lives in lua/<folder>/<file>.lua, both in kebab-case');
  const header = readHeader(text, isFragment(name) ? 'fragment' : 'script', report);
  let chunk: Chunk | undefined;
  try {
    chunk = parseLua(text);
  } catch (error) {
    const { line, message } = syntaxError(error);
    report(line, `syntax error: ${message}`);
  }
  return { path, name, text, header, chunk, report };
}

/**
 * The fragments that a file needs, each once, in order of dependency. Undefined if one of them is missing, cannot be
 * parsed or includes itself. Reports unknown includes of `file` itself; `checkCycles` reports cycles.
 */
export function fragmentsOf(file: LuaFile, folder: LuaFolder): LuaFile[] | undefined {
  const ordered: LuaFile[] = [];
  const open = new Set<string>();
  let sound = true;
  const visit = (from: LuaFile): void => {
    open.add(from.name);
    for (const { name, line } of from.header.includes) {
      const fragment = folder.fragments.get(name);
      if (fragment === undefined && from === file) file.report(line, `unknown include ${name}`);
      if (fragment?.chunk === undefined || open.has(name)) sound = false;
      else if (!ordered.includes(fragment)) visit(fragment);
    }
    open.delete(from.name);
    if (from !== file) ordered.push(from);
  };
  visit(file);
  return sound ? ordered : undefined;
}

/** Reports each include cycle once, in its alphabetically first fragment. */
export function checkCycles(folder: LuaFolder): void {
  for (const start of folder.fragments.values()) {
    const seen = new Set<string>();
    const visit = (from: LuaFile, way: readonly string[], firstLine: number): boolean =>
      from.header.includes.some(({ name, line }) => {
        const startedAt = from === start ? line : firstLine;
        if (name === start.name) {
          start.report(startedAt, `include cycle: ${[...way, name].join(' -> ')}`);
          return true;
        }
        const fragment = folder.fragments.get(name);
        if (fragment === undefined || name < start.name || seen.has(name)) return false;
        seen.add(name);
        return visit(fragment, [...way, name], startedAt);
      });
    visit(start, [start.name], 1);
  }
}
