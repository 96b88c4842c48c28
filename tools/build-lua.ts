/**
 * Generates src/scripts/generated.ts from the scripts in lua/, and rejects scripts that break the rules.
 *
 * This file is the command; lua/files.ts and lua/header.ts read, lua/checks.ts and lua/replies.ts check, lua/emit.ts
 * writes.
 */
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkFragment, checkScript } from './lua/checks.ts';
import { emitScripts, exportName } from './lua/emit.ts';
import { checkCycles, type LuaFolder, type Problem, readLuaFolder } from './lua/files.ts';

const GENERATED = 'src/scripts/generated.ts';

const HELP = `Writes ${GENERATED} from the scripts in lua/.

  npm run build:lua      write the file
  npm run check:lua      change nothing; exit 1 when the file is not what lua/ gives

Options: --check, --help`;

/** Runs the command in the project at `root` and returns its exit code. */
export function buildLua(root: string, options: readonly string[], print: (line: string) => void): number {
  const unknown = options.find((option) => option !== '--check' && option !== '--help');
  if (options.includes('--help') || unknown !== undefined) {
    if (unknown !== undefined) print(`Unknown option ${unknown}\n`);
    print(HELP);
    return unknown === undefined ? 0 : 1;
  }

  const problems: Problem[] = [];
  const folder = readLuaFolder(join(root, 'lua'), problems);
  checkCycles(folder);
  for (const fragment of folder.fragments.values()) checkFragment(fragment, folder);
  for (const script of folder.scripts) checkScript(script, folder);
  checkExportNames(folder);
  if (problems.length > 0) {
    for (const { path, line, message } of inOrder(problems)) print(`${path}:${line}: ${message}`);
    return 1;
  }

  const target = join(root, GENERATED);
  const output = emitScripts(folder);
  const current = existsSync(target) ? readFileSync(target, 'utf8') : undefined;
  if (options.includes('--check')) {
    if (current === output) return 0;
    print(`${GENERATED} is stale: run npm run build:lua`);
    return 1;
  }
  if (current !== output) writeFileSync(target, output);
  print(`${GENERATED}: ${folder.scripts.length} scripts${current === output ? ', unchanged' : ''}`);
  return 0;
}

function checkExportNames(folder: LuaFolder): void {
  const taken = new Map<string, string>();
  for (const { name, path, report } of folder.scripts) {
    const exported = exportName(name);
    const other = taken.get(exported);
    if (other !== undefined) report(1, `duplicate name ${exported}: ${other} has it already`);
    taken.set(exported, path);
  }
}

function inOrder(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}

const script = process.argv[1];
if (script !== undefined && realpathSync(script) === realpathSync(fileURLToPath(import.meta.url))) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  process.exitCode = buildLua(root, process.argv.slice(2), (line) => console.log(line));
}
