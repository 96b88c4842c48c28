/**
 * Makes a module of every block of documentation, so that it can be compiled and run.
 *
 * Readers are spared what every block would repeat: a `client`, and the import of what a TSDoc
 * example explains. It is given here, on the first line, so that line numbers stay the block's own.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import * as core from '../../../src/index.ts';
import * as kit from '../../../src/testing/index.ts';
import { type DocBlock, ROOT } from './doc-blocks.ts';

const CLIENT =
  "import { Holdfast as GivenHoldfast } from 'holdfast'; await using client = await GivenHoldfast.connect('redis://127.0.0.1:6379');";

/** What a block may use without declaring it, and the line that declares it. */
function givenTo({ file }: DocBlock): Map<string, string> {
  const given = new Map([['client', CLIENT]]);
  // A page shows its imports; a comment stands beside what it explains.
  if (!file.startsWith('src/')) return given;
  for (const [from, exported] of [
    ['holdfast', core],
    ['holdfast/testing', kit],
  ] as const) {
    for (const name of Object.keys(exported)) given.set(name, `import { ${name} } from '${from}';`);
  }
  return given;
}

/** What stands for a comment of the form `// … what the reader does here …`. */
const ELIDED: Readonly<Record<string, string>> = {
  'a client that talks to proxy.url runs a script':
    "import { RawConnection } from 'holdfast/testing'; const raw = await RawConnection.connect(proxy.host, proxy.port); await raw.command('EVALSHA', '0'.repeat(40), '0').catch(() => undefined);",
};

const ELISION = /^\s*\/\/ … (.+) …$/gm;

/** A line that prints, with a comment that says what: `console.log(total); // 42`. */
const PRINTED = /^\s*console\.log\(.*\);\s*\/\/ (.+)$/gm;

export interface BlockModule {
  readonly block: DocBlock;
  readonly path: string;
  /** What it says it prints, in order. */
  readonly prints: readonly RegExp[];
}

/** Every name that the code mentions, and those it declares itself. */
function namesIn(code: string): { used: Set<string>; declared: Set<string> } {
  const used = new Set<string>();
  const declared = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) used.add(node.text);
    const isDeclaration =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isImportSpecifier(node) ||
      ts.isFunctionDeclaration(node);
    if (isDeclaration && node.name !== undefined && ts.isIdentifier(node.name)) declared.add(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('block.ts', code, ts.ScriptTarget.ES2022));
  return { used, declared };
}

/** The text of a comment as a pattern: `<port>` stands for anything. */
function pattern(text: string): RegExp {
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/<[^>]+>/g, '.+')}$`);
}

function moduleText(block: DocBlock, server: { url: string; port: number }): string {
  const { used, declared } = namesIn(block.code);
  const given = [...givenTo(block)].filter(([name]) => used.has(name) && !declared.has(name));
  const code = block.code.replace(ELISION, (_, what: string) => {
    const stand = ELIDED[what];
    if (stand === undefined) throw new Error(`${block.file}:${block.line}: nothing stands for "${what}"`);
    return stand;
  });
  return `${given.map(([, line]) => line).join(' ')} ${code}\nexport {};\n`
    .replaceAll('redis://127.0.0.1:6379', server.url)
    .replace(/\b6379\b/g, String(server.port));
}

/** Writes the modules into a folder; addresses of the default port become the server's. */
export function writeModules(
  blocks: readonly DocBlock[],
  folder: string,
  server: { url: string; port: number },
): BlockModule[] {
  return blocks.map((block, i) => {
    const path = join(folder, `${String(i).padStart(3, '0')}.ts`);
    writeFileSync(path, moduleText(block, server));
    const prints = [...block.code.matchAll(PRINTED)].map(([, text]) => pattern(text ?? ''));
    return { block, path, prints };
  });
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  // An example may show a value without using it.
  return { ...options, noUnusedLocals: false, noUnusedParameters: false };
}

/** What keeps a block from running as it is in Node.js 20: the syntax of TypeScript, and `using`. */
function notPlain({ code }: DocBlock): string[] {
  const { diagnostics = [] } = ts.transpileModule(code, {
    fileName: 'block.js',
    reportDiagnostics: true,
    compilerOptions: { allowJs: true, target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext },
  });
  const found = diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.Using) !== 0)
      found.push('Node.js 20 has no `using`');
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('block.js', code, ts.ScriptTarget.ESNext));
  return found;
}

/** Compiles all modules as one program; answers what is wrong with each, by its path. */
export function checkTypes(modules: readonly BlockModule[]): Map<string, string[]> {
  const program = ts.createProgram({
    rootNames: modules.map(({ path }) => path),
    options: compilerOptions(),
  });
  const wrong = new Map<string, string[]>();
  for (const { path, block } of modules) {
    const source = program.getSourceFile(path);
    const diagnostics = source === undefined ? [] : ts.getPreEmitDiagnostics(program, source);
    const told = diagnostics.map(({ start = 0, messageText }) => {
      const line = source === undefined ? 0 : source.getLineAndCharacterOfPosition(start).line;
      return `${block.file}:${block.line + line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    wrong.set(path, block.language === 'js' ? [...told, ...notPlain(block)] : told);
  }
  return wrong;
}
