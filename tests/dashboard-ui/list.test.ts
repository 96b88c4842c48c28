/** The list: many locks, odd names, filters in the address bar, keyboard. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { eventually } from '../harness/wait.ts';
import { type Board, openBoard } from './support/board.ts';
import { describeInBrowser } from './support/browser.ts';
import { namesIn, rowOf } from './support/page.ts';

const MANY = 10_000;
/** The whole document, with rows in sight and beyond the edges. */
const MOST_ELEMENTS = 2_000;

/** As holdfast and Redisson write a lock that is held. */
const HOLD = `for i = 1, #KEYS do
  redis.call('HSET', KEYS[i], 'f0e1d2c3-0000-4000-8000-000000000000:1', 1)
  redis.call('PEXPIRE', KEYS[i], 600000)
end`;

async function hold(board: Board, names: readonly string[]): Promise<void> {
  for (let at = 0; at < names.length; at += 1_000) {
    const some = names.slice(at, at + 1_000);
    await board.raw.command('EVAL', HOLD, String(some.length), ...some);
  }
}

const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.closest<HTMLElement>('[data-key]')?.dataset['key'] ?? null);
const queryOf = (page: Page) => new URL(page.url()).search;

/** The figures of the panel, which is folded where there is little room. */
async function costOf(page: Page): Promise<string[]> {
  const panel = page.locator('details', { hasText: 'Cost of this dashboard' });
  if ((await panel.getAttribute('open')) === null) await panel.locator('summary').click();
  return panel.locator('dd').allTextContents();
}

/** Never above the budget, every key seen, and the time of the last walk: some are over within a second. */
const COST = [/^(?:1,000|[1-9]\d{0,2}) of at most 1,000$/, /^[\d,]+ of 10,0\d\d$/, /^[\d.]+ m?s$/];

describeInBrowser('the list of the page', (open) => {
  it('scrolls through ten thousand locks with a small document', async () => {
    const names = Array.from({ length: MANY }, (_, index) => `order:${String(index).padStart(5, '0')}`);
    // At the default budget.
    const board = await openBoard({ unprotected: true });
    await hold(board, names);
    const page = await open(board.url);
    await page.locator('.count', { hasText: /^10,000$/ }).waitFor({ timeout: 30_000 });
    await eventually(
      async () => expect(await costOf(page)).toEqual(COST.map((text) => expect.stringMatching(text))),
      { withinMs: 15_000 },
    );
    const grid = page.getByRole('grid');
    expect(await grid.getAttribute('aria-rowcount')).toBe(String(MANY + 1));

    // Far jumps and small steps: rows are in sight wherever the page is.
    for (const share of [0.5, 0.51, 0.25, 0.99]) {
      await page.evaluate((to) => scrollTo(0, document.body.scrollHeight * to), share);
      await eventually(() =>
        page.evaluate(() => {
          const lower = document.elementFromPoint(400, innerHeight * 0.9);
          return lower !== null && lower.closest('.row') !== null;
        }),
      );
      expect(await page.locator('*').count()).toBeLessThan(MOST_ELEMENTS);
    }

    // The row with the focus stays while the person scrolls away, and is gone on from.
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await eventually(async () => expect(await focused(page)).toBe('order:00001'));
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight / 2));
    await rowOf(page, 'order:05000').waitFor();
    expect(await focused(page)).toBe('order:00001');
    await page.keyboard.press('ArrowDown');
    await eventually(async () => expect(await focused(page)).toBe('order:00002'));
    expect(await rowOf(page, 'order:00002').getAttribute('aria-rowindex')).toBe('4');
    await page.keyboard.press('End');
    await eventually(async () => expect(await focused(page)).toBe('order:09999'));
    expect(
      await rowOf(page, 'order:09999').evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight),
    ).toBe(true);
  }, 120_000);

  it('shows names as text, whatever is in them', async () => {
    const image = '<img src=x onerror=alert(1)>';
    const odd = [
      'abc\u202egnp.exe',
      'two\nlines\u0000\u200b',
      'x'.repeat(500),
      '   ',
      '"quoted"&amp;',
      '🔒 é',
    ];
    const board = await openBoard();
    await hold(board, [image, ...odd]);
    const page = await open(board.url);
    await page.locator('.row').nth(6).waitFor();
    expect(await page.locator('.row img, .row script').count()).toBe(0);
    await page.locator('.row', { hasText: 'abcU+202Egnp.exe' }).waitFor();
    const heights = await page
      .locator('.row')
      .evaluateAll((rows) => rows.map(({ clientHeight }) => clientHeight));
    expect(new Set(heights).size).toBe(1);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);

    await page.getByText(image, { exact: true }).click();
    await page.getByRole('heading', { name: image }).waitFor();
    await page.locator('.holder-card').waitFor();
    expect(new URL(page.url()).searchParams.get('lock')).toBe(image);
    expect(await page.locator('main img').count()).toBe(0);
    await page.goto(`${board.url}?lock=${'x'.repeat(500)}`);
    await page.locator('.holder-card').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });

  it('is filtered and sorted by the address, through reload and back', async () => {
    const board = await openBoard();
    await hold(board, ['order:1', 'order:2', 'stock:1']);
    await board.client.getFencedLock('order:fenced').lock();
    const page = await open(board.url);
    const shows = (names: string[]) => eventually(async () => expect(await namesIn(page)).toEqual(names));
    await shows(['order:1', 'order:2', 'order:fenced', 'stock:1']);
    await page.getByRole('searchbox', { name: 'Search' }).pressSequentially('order');
    await shows(['order:1', 'order:2', 'order:fenced']);
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('lock');
    await shows(['order:1', 'order:2']);
    await page.getByRole('button', { name: 'Name' }).click();
    await shows(['order:2', 'order:1']);
    expect(queryOf(page)).toBe('?q=order&kind=lock&sort=-name');
    expect(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe(
      'descending',
    );

    await page.reload();
    await shows(['order:2', 'order:1']);
    expect(await page.getByRole('searchbox', { name: 'Search' }).inputValue()).toBe('order');
    await page.goBack();
    await page.goBack();
    await shows(['order:1', 'order:2', 'order:fenced']);
    // All letters of a search are one step.
    await page.goBack();
    await shows(['order:1', 'order:2', 'order:fenced', 'stock:1']);
    expect(queryOf(page)).toBe('');
    await page.goForward();
    await shows(['order:1', 'order:2', 'order:fenced']);
    await page.getByRole('button', { name: 'Clear' }).click();
    await shows(['order:1', 'order:2', 'order:fenced', 'stock:1']);
    await page.getByRole('combobox', { name: 'State' }).selectOption('waiting');
    await page.getByText('No lock fits the filters.').waitFor();
  });

  it('is used with the keyboard alone', async () => {
    const board = await openBoard();
    await hold(board, ['a', 'b', 'c']);
    const page = await open(board.url);
    await rowOf(page, 'c').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await eventually(async () => expect(await focused(page)).toBe('b'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'b', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    // Back in the list, at the same lock.
    await eventually(async () => expect(await focused(page)).toBe('b'));
    await board.raw.command('DEL', 'b');
    await rowOf(page, 'b').waitFor({ state: 'detached' });
    await eventually(async () => expect(await focused(page)).toBe('c'));
    await page.keyboard.press('k');
    await eventually(async () => expect(await focused(page)).toBe('a'));

    await page.keyboard.press('/');
    await page.keyboard.type('c?j');
    expect(queryOf(page)).toBe('?q=c%3Fj');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard' });
    await help.waitFor();
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
  });
});
