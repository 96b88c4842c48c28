import { defineConfig } from 'vitest/config';
import { PROJECTS } from './tests/projects.ts';

/** `--mode default` is what `npm test` asks for; without a mode there is every project. */
// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: ['tests/harness/global-setup.ts'],
    // More than a small machine has cores: tests wait most of the time.
    maxWorkers: 3,
    projects: PROJECTS.filter(({ tier }) => mode !== 'default' || tier !== 'all').map(
      ({ name, files, provide }) => ({
        test: {
          name,
          include: files.map((file) => `tests/${file}`),
          testTimeout: 30_000,
          hookTimeout: 60_000,
          ...(provide !== undefined && { provide }),
        },
      }),
    ),
  },
}));
