/** Runs once before the tests of the dashboard's page: builds it, and finds a browser. On CI apt-get installs one. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildPage } from '../../../tools/dashboard-page.ts';
import { findChromium } from '../../harness/find-chromium.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of the built page. */
    dashboardPage: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-dashboard-'));
  try {
    await buildPage(folder);
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
  project.provide('dashboardPage', folder);
  project.provide('chromium', await findChromium((text) => process.stdout.write(`${text}\n`)));
  return () => rm(folder, { recursive: true });
}
