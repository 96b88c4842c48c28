/** Writes the API reference, as Markdown, from the comments of the public sources. A warning makes the build fail. */
import { join } from 'node:path';
import { Application, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { REPOSITORY, ROOT, STAGE } from './places.ts';

const OPTIONS: TypeDocOptions & PluginOptions = {
  entryPoints: [
    'src/index.ts',
    'src/dashboard/index.ts',
    'src/testing/index.ts',
    'src/telemetry/otel/index.ts',
    'src/telemetry/prometheus/index.ts',
  ].map((file) => join(ROOT, file)),
  tsconfig: join(ROOT, 'tsconfig.build.json'),
  plugin: ['typedoc-plugin-markdown', 'typedoc-vitepress-theme'],
  name: 'API reference',
  readme: 'none',
  basePath: ROOT,
  disableGit: true,
  // TypeDoc counts paths from the folder that all sources have in common.
  sourceLinkTemplate: `${REPOSITORY}/blob/main/src/{path}#L{line}`,
  excludeInternal: true,
  excludeExternals: true,
  // `npm run typecheck` does that.
  skipErrorChecking: true,
  treatWarningsAsErrors: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  hideBreadcrumbs: true,
  hidePageHeader: true,
};

export async function writeApi(): Promise<void> {
  const app = await Application.bootstrapWithPlugins({
    ...OPTIONS,
    out: join(STAGE, 'api'),
    docsRoot: STAGE,
  } as TypeDocOptions);
  const project = await app.convert();
  if (project !== undefined) {
    app.validate(project);
    await app.generateOutputs(project);
  }
  if (project === undefined || app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error('TypeDoc found mistakes in the comments of src/');
}
