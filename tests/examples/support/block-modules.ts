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
import * as otel from '../../../src/telemetry/otel/index.ts';
import * as prometheus from '../../../src/telemetry/prometheus/index.ts';
import * as kit from '../../../src/testing/index.ts';
import type { DocBlock } from './doc-blocks.ts';

const CONNECT =
  "import { Holdfast as GivenHoldfast } from 'holdfast'; const given = await GivenHoldfast.connect('redis://127.0.0.1:6379');";

/** JavaScript runs as it is written, and Node.js 20 does not know `await using`. */
const CLIENT = {
  ts: { first: `${CONNECT} await using client = given;`, last: '' },
  js: { first: `${CONNECT} const client = given;`, last: 'await client.close();' },
};

/** What a block may use without declaring it, and the line that declares it. */
function givenTo({ file, language }: DocBlock): Map<string, string> {
  const given = new Map([['client', CLIENT[language].first]]);
  // A page shows its imports; a comment stands beside what it explains.
  if (!file.startsWith('src/')) return given;
  for (const [from, exported] of [
    ['holdfast', core],
    ['holdfast/testing', kit],
    ['holdfast/otel', otel],
    ['holdfast/prometheus', prometheus],
  ] as const) {
    for (const name of Object.keys(exported)) given.set(name, `import { ${name} } from '${from}';`);
  }
  return given;
}

/** A block without imports that requires what it uses. */
const COMMON_JS = /\brequire\(/;
const IMPORT = /^import /m;
/** How a CommonJS block starts its work: without a top-level `await`, nothing else says when it has ended. */
const MAIN = /^main\(\);$/m;

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

function extensionOf({ code, language }: DocBlock): 'ts' | 'mjs' | 'cjs' {
  if (language === 'ts') return 'ts';
  return COMMON_JS.test(code) && !IMPORT.test(code) ? 'cjs' : 'mjs';
}

function elided({ file, line, code }: DocBlock): string {
  return code.replace(ELISION, (_, what: string) => {
    const stand = ELIDED[what];
    if (stand === undefined) throw new Error(`${file}:${line}: nothing stands for "${what}"`);
    return stand;
  });
}

function esModule(block: DocBlock): string {
  const { used, declared } = namesIn(block.code);
  const given = [...givenTo(block)].filter(([name]) => used.has(name) && !declared.has(name));
  const last = given.some(([name]) => name === 'client') ? CLIENT[block.language].last : '';
  return `${given.map(([, line]) => line).join(' ')} ${elided(block)}\n${last}\nexport {};\n`;
}

function commonJsModule(block: DocBlock): string {
  if (!MAIN.test(block.code)) throw new Error(`${block.file}:${block.line}: CommonJS without a line main();`);
  return elided(block).replace(MAIN, 'module.exports = main();');
}

function moduleText(block: DocBlock, server: { url: string; port: number }): string {
  const text = extensionOf(block) === 'cjs' ? commonJsModule(block) : esModule(block);
  return text.replaceAll('redis://127.0.0.1:6379', server.url).replace(/\b6379\b/g, String(server.port));
}

/** Writes the modules into a folder; addresses of the default port become the server's. */
export function writeModules(
  blocks: readonly DocBlock[],
  folder: string,
  server: { url: string; port: number },
): BlockModule[] {
  return blocks.map((block, i) => {
    const path = join(folder, `${String(i).padStart(3, '0')}.${extensionOf(block)}`);
    writeFileSync(path, moduleText(block, server));
    const prints = [...block.code.matchAll(PRINTED)].map(([, text]) => pattern(text ?? ''));
    return { block, path, prints };
  });
}
