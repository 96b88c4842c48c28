/** Finds the browser that the tests open the site with: Debian's Chromium. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installPackages } from '../../harness/apt-get.ts';

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
