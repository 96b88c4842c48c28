/** The page is readable by day and by night, fits a telephone, and keeps still for those who ask for it. */
import { expect, it } from 'vitest';
import { eventually } from '../harness/wait.ts';
import { measureContrast } from '../site/support/contrast.ts';
import { type Board, openBoard } from './support/board.ts';
import { describeInBrowser, PHONE } from './support/browser.ts';
import { rowOf } from './support/page.ts';

/** What WCAG 2 asks of text, level AA. */
const LEAST_CONTRAST = 4.5;

async function openFilledBoard(): Promise<Board> {
  const board = await openBoard({ unprotected: true, allowFree: true, audit: () => {} }, { label: 'api-1' });
  await board.client.getFairLock('queue').lock();
  // The queue of waiters of the fair lock, as this client shows it, ends with the client.
  void board.client
    .getFairLock('queue')
    .lock()
    .catch(() => {});
  await board.client.getFencedLock('fenced').lock();
  await board.client.getPermitExpirableSemaphore('permits').trySetPermits(3);
  await board.client.getPermitExpirableSemaphore('permits').acquire();
  return board;
}

describeInBrowser('the looks of the page', (open) => {
  it.each(['light', 'dark'] as const)('are readable in %s', async (colorScheme) => {
    const board = await openFilledBoard();
    for (const query of ['', '?lock=queue']) {
      const page = await open(board.url + query, { colorScheme });
      await page.locator('.row, .holder-card').first().waitFor();
      await page.getByText('Healthy').or(page.getByText('Degraded')).waitFor();
      const texts = await measureContrast(page, '.page');
      expect(texts.length).toBeGreaterThan(10);
      expect(texts.filter(({ ratio }) => ratio < LEAST_CONTRAST)).toEqual([]);
      const isLight = texts.some(({ background }) => background === '255 255 255');
      expect(isLight).toBe(colorScheme === 'light');
    }
  });

  it('change with the button, and stay so', async () => {
    const board = await openBoard();
    const page = await open(board.url, { colorScheme: 'light' });
    const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await page.getByRole('button', { name: 'Dark colours' }).waitFor();
    const light = await background();
    await page.getByRole('button', { name: 'Dark colours' }).click();
    await eventually(async () => expect(await background()).not.toBe(light));
    const dark = await background();
    await page.reload();
    await page.getByRole('button', { name: 'Light colours' }).waitFor();
    expect(await background()).toBe(dark);
  });

  it('fit a telephone, with everything unfolded', async () => {
    const board = await openFilledBoard();
    const widths = () => page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    const page = await open(board.url, PHONE);
    await rowOf(page, 'queue').waitFor();
    for (const panel of await page.locator('.panel > summary').all()) await panel.tap();
    await page.locator('.plot canvas').first().waitFor();
    expect(await widths()).toEqual([360, 360]);
    await rowOf(page, 'queue').tap();
    await page.locator('.holder-card').waitFor();
    expect(await widths()).toEqual([360, 360]);
    await page.getByRole('button', { name: 'Free …' }).tap();
    await page.getByRole('dialog').waitFor();
    expect(await widths()).toEqual([360, 360]);
  });

  it('keep still where motion is not wanted', async () => {
    const board = await openFilledBoard();
    const moving = async (reducedMotion: 'reduce' | 'no-preference') => {
      const page = await open(board.url, { reducedMotion });
      await rowOf(page, 'fenced').locator('.fill').waitFor({ state: 'attached' });
      return page.evaluate(() => document.getAnimations().length);
    };
    expect(await moving('no-preference')).toBeGreaterThan(0);
    expect(await moving('reduce')).toBe(0);
  });
});
