/** What the compiler says of the public types: compiles `tests/types`, which is never run. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, 'tests/types');
const COMPILED_WITHIN_MS = 60_000;

const files = readdirSync(FOLDER);

describe('the public types', () => {
  let program: ts.Program;

  beforeAll(() => {
    const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path));
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
    program = ts.createProgram({ rootNames: files.map((file) => join(FOLDER, file)), options });
  }, COMPILED_WITHIN_MS);

  it.each(files)(
    'match %s',
    (file) => {
      const wrong = ts.getPreEmitDiagnostics(program, program.getSourceFile(join(FOLDER, file)));
      expect(wrong.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
    },
    COMPILED_WITHIN_MS,
  );
});
