/** The navigation of the site has every page of the documentation, once, and nothing that is not there. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES } from '../../../site/navigation.ts';
import { placeOf, ROOT } from '../../../site/places.ts';

const documentation = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);

describe('the navigation of the site', () => {
  it('has every page of docs/', () => {
    expect(documentation.filter((page) => !PAGES.includes(page))).toEqual([]);
  });

  it('has no page that is not there', () => {
    expect(PAGES.filter((page) => !existsSync(join(ROOT, page)))).toEqual([]);
  });

  it('has every page at its own place', () => {
    expect(new Set(PAGES.map(placeOf)).size).toBe(PAGES.length);
  });
});
