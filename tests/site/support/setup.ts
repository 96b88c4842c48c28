/**
 * Runs once before the tests of the site: builds it with the command that everyone uses, serves the folder, and finds a
 * browser. On CI apt-get installs one.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { ROOT } from '../../../site/places.ts';
import { findChromium } from '../../harness/find-chromium.ts';
import { serveFolder } from './serve-folder.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The built site. */
    siteFolder: string;
    /** The address of its home page. */
    siteUrl: string;
  }
}

/** Not the default, so that an address without its base is noticed. */
export const BASE = '/some/where/';
const BUILT_WITHIN_MS = 400_000;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function build(folder: string): Promise<void> {
  say('Building the documentation site …');
  const env = { ...process.env, DOCS_BASE: BASE, DOCS_OUT: folder };
  const options = { cwd: ROOT, env, timeout: BUILT_WITHIN_MS, maxBuffer: 1e8 };
  await promisify(execFile)('npm', ['run', 'docs'], options);
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-site-'));
  try {
    await build(folder);
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
  const server = await serveFolder(folder, BASE);
  project.provide('siteFolder', folder);
  project.provide('siteUrl', server.url);
  project.provide('chromium', await findChromium(say));
  return async () => {
    await server.close();
    await rm(folder, { recursive: true });
  };
}
