import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: ['tests/harness/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // More than a small machine has cores: tests wait most of the time.
    maxWorkers: 3,
  },
});
