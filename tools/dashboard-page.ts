/**
 * How the dashboard's page is built: a few files that refer to each other relatively, because an application mounts
 * them below any path, and without a script or style in the page, because its content security policy allows none.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

const root = fileURLToPath(new URL('../src/dashboard-ui', import.meta.url));

/** The folder of a package in the path of one of its modules. */
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;

/** The packages in the page want their licences to come along. */
const licences: Plugin = {
  name: 'licences',
  generateBundle() {
    const folders = new Set([...this.getModuleIds()].flatMap((id) => PACKAGE.exec(id)?.[0] ?? []));
    const texts = [...folders].sort().map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name: string;
        version: string;
      };
      return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n`;
    });
    this.emitFile({ type: 'asset', fileName: 'licences.txt', source: texts.join(`\n${'-'.repeat(80)}\n\n`) });
  },
};

/** Builds the page into a folder. */
export async function buildPage(folder: string): Promise<void> {
  await build({
    root,
    base: './',
    configFile: false,
    logLevel: 'warn',
    plugins: [licences],
    esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: false,
      assetsInlineLimit: 0,
      reportCompressedSize: false,
    },
  });
}
