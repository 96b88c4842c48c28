/** Finds the browser that tests open pages with: Debian's Chromium. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installPackages } from './apt-get.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The path of the browser; null when there is none. */
    chromium: string | null;
  }
}

/** How it is started: alone, without a window, and without looking for news. */
export const CHROMIUM_ARGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** In the name of whatever is skipped for want of a browser. */
export const NEEDS_CHROMIUM = '[needs Chromium]';

function onPath(): string | null {
  const { PATH = '' } = process.env;
  const paths = PATH.split(delimiter).map((folder) => join(folder, 'chromium'));
  return paths.find((path) => existsSync(path)) ?? null;
}

/** The path of the program, or null where there is none and it cannot be installed. */
export async function findChromium(say: (text: string) => void): Promise<string | null> {
  // Without a font the browser shows no text.
  if (onPath() === null) await installPackages(['chromium', 'fonts-dejavu-core'], say);
  return onPath();
}
