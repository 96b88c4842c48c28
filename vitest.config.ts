import { defineConfig } from 'vitest/config';
import { LongFirst } from './tests/harness/long-first.ts';
import { isAtHand } from './tests/harness/other-servers.ts';
import { type Project, projectsOf } from './tests/projects.ts';

function isPossible({ provide }: Project): boolean {
  return provide?.otherServer === undefined || isAtHand(provide.otherServer);
}

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig(({ mode }) => {
  const asked = projectsOf(mode);
  const left = asked.filter((project) => !isPossible(project)).map(({ name }) => name);
  if (left.length > 0)
    console.warn(`Left out, as their servers are downloaded on CI only: ${left.join(', ')}`);
  return {
    test: {
      globalSetup: ['tests/harness/global-setup.ts'],
      // More than a small machine has cores: tests wait most of the time.
      maxWorkers: mode === 'default' ? 5 : 10,
      sequence: { sequencer: LongFirst },
      // Otherwise each of some sixty projects compiles the same sources anew.
      experimental: { fsModuleCache: true },
      projects: asked.filter(isPossible).map(({ name, files, except = [], provide = {}, setup = [] }) => ({
        test: {
          name,
          include: files.map((file) => `tests/${file}`),
          exclude: except.map((file) => `tests/${file}`),
          globalSetup:
            provide.otherServer === undefined ? [...setup] : ['tests/harness/other-server-setup.ts'],
          setupFiles: provide.passing === 'off' ? ['tests/harness/passing-off.setup.ts'] : [],
          // A worker loads the sources once for all its files. What a file changes outside of itself, it changes back.
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
          provide,
        },
      })),
    },
  };
});
