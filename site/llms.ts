/** Writes `llms.txt` (llmstxt.org): what the project is, and where each page is as plain Markdown. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { summaryOf, titleOf } from './markdown.ts';
import { HOME, NAVIGATION } from './navigation.ts';
import { placeOf, ROOT } from './places.ts';

export function llmsText(): string {
  const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');
  const sections = NAVIGATION.map(({ title, pages }) => {
    const lines = pages.map(
      (page) => `- [${titleOf(read(page))}](${placeOf(page)}): ${summaryOf(read(page))}`,
    );
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  const api = '## API\n\n- [API reference](api/index.md): every exported class, function, type and error.\n';
  return [`# ${titleOf(read(HOME))}\n`, `> ${summaryOf(read(HOME))}\n`, ...sections, api].join('\n');
}
