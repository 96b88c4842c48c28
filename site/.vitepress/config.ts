/** How the site looks and where its menus lead. `site/build.ts` has put the pages in place before this is read. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { anchorOf, titleOf } from '../markdown.ts';
import { NAVIGATION, PAGES } from '../navigation.ts';
import { addressOf, placeOf, REPOSITORY, ROOT, STAGE } from '../places.ts';

const { DOCS_BASE: base = '/', DOCS_OUT: outDir = join(ROOT, 'site/dist') } = process.env;

const guide = NAVIGATION.map(({ title, pages }) => ({
  text: title,
  items: pages.map((page) => ({
    text: titleOf(readFileSync(join(ROOT, page), 'utf8')),
    link: addressOf(page),
  })),
}));
const api = JSON.parse(
  readFileSync(join(STAGE, 'api/typedoc-sidebar.json'), 'utf8'),
) as DefaultTheme.SidebarItem[];
const sources = new Map(PAGES.map((page) => [placeOf(page), page]));

// biome-ignore lint/style/noDefaultExport: VitePress reads the default export.
export default defineConfig({
  title: 'holdfast',
  description: 'Distributed locks and synchronizers for Node.js on Redis and Valkey',
  lang: 'en-GB',
  base,
  outDir,
  srcDir: STAGE,
  cacheDir: join(ROOT, 'site/.vitepress/cache'),
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}logo.svg` }]],
  // The search index is one file, loaded by the first search. Pictures stay files.
  vite: { build: { chunkSizeWarningLimit: 4000, assetsInlineLimit: 0 } },
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  transformPageData({ filePath, frontmatter }) {
    const source = sources.get(filePath);
    // The API reference has no source that could be edited as a page.
    return source === undefined ? { frontmatter: { ...frontmatter, editLink: false } } : { filePath: source };
  },
  themeConfig: {
    logo: '/logo.svg',
    nav: [
      { text: 'Guide', link: guide[0]?.items[0]?.link ?? '/' },
      { text: 'API', link: '/api/' },
      { text: 'Changelog', link: addressOf('CHANGELOG.md') },
    ],
    sidebar: { '/': guide, '/api/': api.map((module) => ({ ...module, collapsed: false })) },
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          // "fencing" finds "fenced" and "fences".
          options: { processTerm: (term) => term.toLowerCase().replace(/(?<=.{3})(ing|ed|es|e|s)$/, '') },
          // Guides come before the API reference, which repeats every name many times.
          searchOptions: { boostDocument: (id: string) => (id.includes('/api/') ? 0.2 : 1) },
        },
      },
    },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: 'Edit this page on GitHub' },
    footer: { message: 'MIT licence' },
  },
});
