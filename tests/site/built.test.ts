/** The built site: every page is there, every link and anchor leads somewhere, and nothing comes from elsewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { join as joinPlaces } from 'node:path/posix';
import { describe, expect, inject, it } from 'vitest';
import { mapLinks } from '../../site/markdown.ts';
import { PAGES } from '../../site/navigation.ts';
import { placeOf, REPOSITORY, ROOT } from '../../site/places.ts';
import { BASE } from './support/setup.ts';

const folder = inject('siteFolder');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
const withEnd = (end: string) => files.filter((file) => file.endsWith(end));
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

/** The places that links can lead to. */
const anchors = new Map(
  withEnd('.html').map((file) => [
    file,
    new Set([...read(file).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
  ]),
);

/** What is wrong with a link to an address of the site. */
function problemWith(page: string, address: string): string | null {
  const { pathname, hash } = new URL(address, `http://site${BASE}${page}`);
  if (!pathname.startsWith(BASE)) return `${address} is outside of ${BASE}`;
  const path = decodeURIComponent(pathname.slice(BASE.length));
  const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
  if (!existsSync(join(folder, file))) return `${address}: no ${file}`;
  const isKnown = hash === '' || anchors.get(file)?.has(decodeURIComponent(hash.slice(1))) === true;
  return isKnown ? null : `${address}: no ${hash} in ${file}`;
}

/** Links to files of this repository. */
const ON_GITHUB = new RegExp(`^${REPOSITORY}/(?:blob|tree|edit)/main/([^#]+)`);

function problemElsewhere(tag: string, address: string): string | null {
  if (tag !== 'a') return `<${tag}> loads ${address}`;
  const file = ON_GITHUB.exec(address)?.[1];
  return file === undefined || existsSync(join(ROOT, file)) ? null : `${address}: no ${file}`;
}

function problemsOf(page: string): string[] {
  const tags = read(page).matchAll(/<(\w+)[^>]*? (?:href|src)="([^"]*)"/g);
  const problems = [...tags].map(([, tag = '', address = '']) =>
    /^(https?:)?\/\//.test(address) ? problemElsewhere(tag, address) : problemWith(page, address),
  );
  return problems.filter((problem) => problem !== null);
}

describe('the built site', () => {
  it('has every page of the navigation, as HTML and as Markdown', () => {
    const places = PAGES.map(placeOf);
    expect(files).toEqual(expect.arrayContaining(places));
    expect(files).toEqual(expect.arrayContaining(places.map((place) => place.replace(/md$/, 'html'))));
  });

  it('has the API reference of both entry points', () => {
    const api = withEnd('.html').filter((file) => file.startsWith('api/'));
    for (const name of ['Holdfast', 'Lock', 'LeaseLostError', 'Recorder', 'startServer']) {
      expect(api).toContainEqual(expect.stringMatching(new RegExp(`/${name}\\.html$`)));
    }
  });

  it('has no dead link, no dead anchor, and loads nothing from elsewhere', () => {
    expect(
      withEnd('.html').flatMap((page) => problemsOf(page).map((problem) => `${page}: ${problem}`)),
    ).toEqual([]);
  });

  it('has style sheets that load nothing from elsewhere', () => {
    expect(withEnd('.css').length).toBeGreaterThan(0);
    for (const file of withEnd('.css')) expect(read(file)).not.toMatch(/url\(["']?(https?:)?\/\//);
  });

  it('has Markdown whose links lead to Markdown', () => {
    const dead: string[] = [];
    for (const page of [...withEnd('.md'), 'llms.txt']) {
      mapLinks(read(page), (target) => {
        const file = joinPlaces(dirname(page), decodeURIComponent(target.replace(/#.*/, '')));
        const isDead = !/^(#|[a-z]+:)/.test(target) && !existsSync(join(folder, file));
        if (isDead) dead.push(`${page}: ${target}`);
        return target;
      });
    }
    expect(dead).toEqual([]);
  });

  it('has an llms.txt that names every page but the home page', () => {
    const text = read('llms.txt');
    expect(text).toMatch(/^# holdfast\n\n> \S.*\.\n\n## \S/);
    for (const page of PAGES.slice(1)) expect(text).toContain(`](${placeOf(page)}): `);
    expect(text).not.toMatch(/: *$/m);
  });
});
