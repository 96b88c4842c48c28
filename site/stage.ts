/**
 * Puts the pages of the navigation where VitePress reads them. A link to another page becomes a link within the site, a
 * picture comes along, a link to the public surface leads to the API reference, and a link to any other file of the
 * repository leads to GitHub.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { join as joinPlaces, relative } from 'node:path/posix';
import { mapLinks, paragraphsOf, titleOf } from './markdown.ts';
import { HOME, NAVIGATION, PAGES } from './navigation.ts';
import { addressOf, placeOf, REPOSITORY, ROOT, STAGE } from './places.ts';

const PICTURE = /\.(svg|png)$/;

/** Its comments are the API reference, which is a page here and this file on GitHub. */
const API_SOURCE = 'src/index.ts';
const API_PLACE = 'api/index.md';

/** A file of this repository, by its address on GitHub, with an anchor if there is one. */
const ON_GITHUB =
  /^https:\/\/(?:github|raw\.githubusercontent)\.com\/holdfast-js\/holdfast\/(?:(?:blob|tree)\/)?main\//;

/** What a link of a page leads to on the site; `pictures` collects the pictures that have to come along. */
export function siteLink(page: string, target: string, pictures: Set<string>): string {
  const isOurs = ON_GITHUB.test(target);
  if (target.startsWith('#') || (/^[a-z]+:/.test(target) && !isOurs)) return target;
  const [path = '', ...anchor] = target.replace(ON_GITHUB, '').split(/(?=#)/);
  const file = isOurs ? path : joinPlaces(dirname(page), path).replace(/\/$/, '');
  if (!existsSync(join(ROOT, file))) throw new Error(`${page}: ${target} does not exist`);
  const isPicture = PICTURE.test(file);
  if (isPicture) pictures.add(file);
  const isApi = file === API_SOURCE;
  if (isPicture || isApi || PAGES.includes(file)) {
    const way = relative(dirname(placeOf(page)), isApi ? API_PLACE : placeOf(file));
    return [way.startsWith('.') ? way : `./${way}`, ...anchor].join('');
  }
  const view = statSync(join(ROOT, file)).isDirectory() ? 'tree' : 'blob';
  return [`${REPOSITORY}/${view}/main/${file}`, ...anchor].join('');
}

/** The README with a title that fills the screen. */
function homePage(readme: string): string {
  const [opening = '', ...rest] = paragraphsOf(readme);
  const [first = HOME] = NAVIGATION[0]?.pages ?? [];
  const hero = {
    name: titleOf(readme),
    tagline: opening.replace(/\s*\n/g, ' '),
    actions: [
      { theme: 'brand', text: 'Get started', link: addressOf(first) },
      { theme: 'alt', text: 'API reference', link: '/api/' },
      { theme: 'alt', text: 'GitHub', link: REPOSITORY },
    ],
  };
  // JSON is YAML.
  return `---\nlayout: home\nhero: ${JSON.stringify(hero)}\n---\n\n${rest.join('\n\n')}\n`;
}

export function stagePages(): void {
  const pictures = new Set<string>();
  for (const page of PAGES) {
    const markdown = mapLinks(readFileSync(join(ROOT, page), 'utf8'), (target) =>
      siteLink(page, target, pictures),
    );
    const path = join(STAGE, placeOf(page));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, page === HOME ? homePage(markdown) : markdown);
  }
  for (const picture of pictures) cpSync(join(ROOT, picture), join(STAGE, placeOf(picture)));
  cpSync(join(ROOT, 'site/logo.svg'), join(STAGE, 'public/logo.svg'));
}
