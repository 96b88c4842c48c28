/**
 * Builds the documentation site into `site/dist`, or into the folder that `DOCS_OUT` names. `DOCS_BASE` is the path
 * under which it will be served, `/` unless told.
 */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, resolveConfig } from 'vitepress';
import { writeApi } from './api.ts';
import { llmsText } from './llms.ts';
import { STAGE } from './places.ts';
import { stagePages } from './stage.ts';

const site = fileURLToPath(new URL('.', import.meta.url));

rmSync(STAGE, { recursive: true, force: true });
stagePages();
await writeApi();
await build(site);

const { outDir } = await resolveConfig(site, 'build', 'production');
// The pages as plain Markdown, with their pictures, for `llms.txt`.
const isForReaders = (path: string) => !/(\/public|\.json)$/.test(path);
cpSync(STAGE, outDir, { recursive: true, filter: isForReaders });
writeFileSync(join(outDir, 'llms.txt'), llmsText());
