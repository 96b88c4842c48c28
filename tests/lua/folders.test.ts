/** No script goes untested: every folder of lua/ has a file of tests here, and every script is generated. */
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as generated from '../../src/scripts/generated.ts';
import { scriptFolders } from './support/script-bench.ts';

describe('lua/', () => {
  it.each(scriptFolders())('%s has its tests', (folder) => {
    expect(existsSync(new URL(`${folder}.test.ts`, import.meta.url))).toBe(true);
  });

  it('every script file is generated, and nothing else', () => {
    const files = scriptFolders().flatMap((folder) =>
      readdirSync(new URL(`../../lua/${folder}/`, import.meta.url)).map(
        (file) => `${folder}/${file.replace(/\.lua$/, '')}`,
      ),
    );
    // A script that also runs behind the guard is generated three times.
    const written = new Set(files);
    const names = Object.values(generated)
      .map((script) => script.name)
      .filter((name) => written.has(name) || !written.has(name.replace(/\/(guarded|settled)-/, '/')));
    expect(names.sort()).toEqual(files.sort());
  });
});
