/**
 * Compiles the blocks of documentation. JavaScript is checked too, as strictly as code without types can be.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { BlockModule } from './block-modules.ts';
import { type DocBlock, ROOT } from './doc-blocks.ts';

function compilerOptions(language: DocBlock['language']): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  // An example may show a value without using it.
  const relaxed = { ...options, noUnusedLocals: false, noUnusedParameters: false };
  if (language === 'ts') return relaxed;
  return {
    ...relaxed,
    allowJs: true,
    checkJs: true,
    noImplicitAny: false,
    noUncheckedIndexedAccess: false,
    useUnknownInCatchVariables: false,
    noPropertyAccessFromIndexSignature: false,
  };
}

function problemsOf(
  modules: readonly BlockModule[],
  language: DocBlock['language'],
  others: readonly string[],
) {
  const ours = modules.filter(({ block }) => block.language === language);
  const rootNames = [...ours.map(({ path }) => path), ...others];
  const program = ts.createProgram({ rootNames, options: compilerOptions(language) });
  return ours.map(({ path, block }) => {
    const source = program.getSourceFile(path);
    const diagnostics = source === undefined ? [] : ts.getPreEmitDiagnostics(program, source);
    const told = diagnostics.map(({ start = 0, messageText }) => {
      const line = source === undefined ? 0 : source.getLineAndCharacterOfPosition(start).line;
      return `${block.file}:${block.line + line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    return [path, told] as const;
  });
}

/** Declares what blocks import from packages that are not installed: as values and types about which nothing is known. */
function declarationsOfMissing(modules: readonly BlockModule[]): string {
  const names = new Map<string, Set<string>>();
  for (const { block } of modules) {
    for (const statement of ts.createSourceFile('block.ts', block.code, ts.ScriptTarget.ES2022).statements) {
      if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
      const { text } = statement.moduleSpecifier;
      if (!block.needs.includes(text)) continue;
      const imported = names.get(text) ?? new Set<string>();
      names.set(text, imported);
      const named = statement.importClause?.namedBindings;
      if (named !== undefined && ts.isNamedImports(named)) {
        for (const { name, propertyName } of named.elements) imported.add((propertyName ?? name).text);
      }
    }
  }
  const declare = (name: string) => `export const ${name}: any; export type ${name} = any;`;
  return [...names]
    .map(([text, imported]) => {
      const members = [...imported].map(declare).join(' ');
      return `declare module '${text}' { ${members} const missing: any; export default missing; }\n`;
    })
    .join('');
}

/** Compiles all modules; answers what is wrong with each, by its path. */
export function checkTypes(modules: readonly BlockModule[], folder: string): Map<string, string[]> {
  const missing = join(folder, 'missing.d.ts');
  writeFileSync(missing, declarationsOfMissing(modules));
  return new Map([...problemsOf(modules, 'ts', [missing]), ...problemsOf(modules, 'js', [missing])]);
}

/** Whether code declares with `using` or `await using`, which JavaScript has from Node.js 24 on. */
export function hasUsing(code: string): boolean {
  let found = false;
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.Using) !== 0) found = true;
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('block.js', code, ts.ScriptTarget.ESNext, false, ts.ScriptKind.JS));
  return found;
}
