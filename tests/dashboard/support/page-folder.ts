/** A page for tests of the server: its files are as those of the built one, and small. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { PageFiles } from '../../../src/dashboard/http/page-files.ts';

export const PAGE =
  '<!doctype html><title>locks</title><script type="module" src="./assets/index-1a2b.js"></script>';
export const SCRIPT = 'document.title = "loaded";';

/** A folder as the build writes it, removed when the test ends. */
export async function pageFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-page-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), PAGE);
  await writeFile(join(folder, 'assets/index-1a2b.js'), SCRIPT);
  return folder;
}

export async function testPage(): Promise<PageFiles> {
  return new PageFiles(await pageFolder());
}
