/** Every relative link and picture of the documentation leads to a file, and every anchor to a heading. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/doc-blocks.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const pages = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
].sort();

/** Code is not prose: `[0](…)` in it is no link. */
function prose(page: string): string {
  return read(page)
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()#]/g, ' '));
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const headings = read(page)
    .replace(/^```[\s\S]*?^```/gm, '')
    .matchAll(/^#+ (.+)$/gm);
  const anchors = new Set<string>();
  for (const [, heading = ''] of headings) {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = text.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
    let anchor = slug;
    for (let i = 1; anchors.has(anchor); i += 1) anchor = `${slug}-${i}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** What is wrong with the links of a page. */
function brokenLinks(page: string): string[] {
  const broken: string[] = [];
  for (const [, target = ''] of prose(page).matchAll(/\]\(([^()\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(ROOT, file))) broken.push(`${target}: no such file`);
    else if (anchor !== undefined && !anchorsOf(file).has(anchor)) broken.push(`${target}: no such heading`);
  }
  return broken;
}

describe('links of the documentation', () => {
  it.each(pages)('%s', (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it('leads to every page of docs from another page', () => {
    const linked = new Set(
      pages.flatMap((page) =>
        [...prose(page).matchAll(/\]\(([^()\s#]+)/g)].map(([, path = '']) =>
          normalize(join(dirname(page), path)),
        ),
      ),
    );
    const lonely = pages.filter((page) => page.startsWith('docs/') && !linked.has(page));
    expect(lonely).toEqual([]);
  });
});
