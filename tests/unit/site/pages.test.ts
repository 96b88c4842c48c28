/** What the build of the site makes of a page: its links, its title, its summary, its anchors. */
import { describe, expect, it } from 'vitest';
import { anchorOf, mapLinks, paragraphsOf, summaryOf, titleOf } from '../../../site/markdown.ts';
import { addressOf, placeOf, REPOSITORY } from '../../../site/places.ts';
import { siteLink } from '../../../site/stage.ts';

describe('where a page is on the site', () => {
  it.each([
    ['README.md', 'index.md', '/'],
    ['ARCHITECTURE.md', 'architecture.md', '/architecture'],
    ['docs/operations.md', 'operations.md', '/operations'],
    ['docs/guides/locks.md', 'guides/locks.md', '/guides/locks'],
    ['bench/results/README.md', 'bench/results/index.md', '/bench/results/'],
  ])('%s', (file, place, address) => {
    expect([placeOf(file), addressOf(file)]).toEqual([place, address]);
  });
});

describe('a link of a page', () => {
  it.each([
    ['README.md', 'docs/guides/locks.md#waiting', './guides/locks.md#waiting'],
    ['docs/guides/locks.md', 'fair-lock.md', './fair-lock.md'],
    ['docs/guides/locks.md', '../../README.md', '../index.md'],
    ['docs/operations.md', '../SECURITY.md#least-privilege', './security.md#least-privilege'],
    ['docs/operations.md', '#memory', '#memory'],
    ['docs/operations.md', 'https://redis.io/docs', 'https://redis.io/docs'],
    ['CONTRIBUTING.md', 'tests/projects.ts', `${REPOSITORY}/blob/main/tests/projects.ts`],
    ['docs/guides/locks.md', '../../src/keys.ts#L1', `${REPOSITORY}/blob/main/src/keys.ts#L1`],
    ['README.md', 'examples', `${REPOSITORY}/tree/main/examples`],
    ['README.md', 'examples/', `${REPOSITORY}/tree/main/examples`],
    ['README.md', `${REPOSITORY}/blob/main/docs/redisson.md#the-same`, './redisson.md#the-same'],
    ['README.md', `${REPOSITORY}/blob/main/src/index.ts`, './api/index.md'],
    ['docs/guides/locks.md', '../../src/index.ts', '../api/index.md'],
    ['README.md', `${REPOSITORY}/tree/main/examples`, `${REPOSITORY}/tree/main/examples`],
    ['README.md', `${REPOSITORY}/issues`, `${REPOSITORY}/issues`],
  ])('of %s to %s', (page, target, expected) => {
    const pictures = new Set<string>();
    expect(siteLink(page, target, pictures)).toBe(expected);
    expect([...pictures]).toEqual([]);
  });

  it.each([
    'bench/results/w4.svg',
    'https://raw.githubusercontent.com/holdfast-js/holdfast/main/bench/results/w4.svg',
  ])('takes the picture %s along', (target) => {
    const pictures = new Set<string>();
    expect(siteLink('README.md', target, pictures)).toBe('./bench/results/w4.svg');
    expect([...pictures]).toEqual(['bench/results/w4.svg']);
  });

  it('to a file that does not exist is an error', () => {
    expect(() => siteLink('docs/guides/locks.md', 'nowhere.md', new Set())).toThrow(
      'docs/guides/locks.md: nowhere.md does not exist',
    );
  });
});

describe('the Markdown of a page', () => {
  const mark = (markdown: string) => mapLinks(markdown, (target) => `<${target}>`);

  it('has its links replaced', () => {
    expect(mark('See [a](a.md), ![b](b.svg) and [c][c].\n\n[c]: c.md\n')).toBe(
      'See [a](<a.md>), ![b](<b.svg>) and [c][c].\n\n[c]: <c.md>\n',
    );
  });

  it('keeps its code', () => {
    const markdown = 'A `list[0](x)`.\n\n```ts\nlist[0](x);\n```\n\n````md\n```\n[a](a.md)\n```\n````\n';
    expect(mark(`${markdown}[a](a.md)`)).toBe(`${markdown}[a](<a.md>)`);
  });

  const page =
    '[Deutsch](x.md)\n\n# Fair lock\n\n`getFairLock` is [a lock](locks.md) with a [queue][q]:\nfirst come. It is fair.\n\nMore.\n';

  it('has a title, paragraphs and a summary', () => {
    expect(titleOf(page)).toBe('Fair lock');
    expect(paragraphsOf(page)).toEqual([
      '`getFairLock` is [a lock](locks.md) with a [queue][q]:\nfirst come. It is fair.',
      'More.',
    ]);
    expect(summaryOf(page)).toBe('`getFairLock` is a lock with a queue.');
    expect(summaryOf('# Security\n\n## Reporting\n\n| a | b |\n\nPlease tell us. Soon.')).toBe(
      'Please tell us.',
    );
    expect(() => titleOf('No heading')).toThrow('A page without a heading: No heading');
  });

  it.each([
    ['60 seconds', '60-seconds'],
    ['Who owns a hold?', 'who-owns-a-hold'],
    ['`replicas`, `guard`', 'replicas-guard'],
    ['Re-entry, downgrade, upgrade', 're-entry-downgrade-upgrade'],
    ['Über uns – 中文', 'über-uns--中文'],
  ])('has the anchors of GitHub: %s', (heading, anchor) => {
    expect(anchorOf(heading)).toBe(anchor);
  });
});
