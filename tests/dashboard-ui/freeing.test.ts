/** Freeing a holder asks first and frees only that holder; reading needs authorisation. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { AuditEntry } from '../../src/dashboard/protocol.ts';
import { openBoard } from './support/board.ts';
import { describeInBrowser } from './support/browser.ts';
import { holdInChild, startHolder } from './support/children.ts';
import { rowOf } from './support/page.ts';

const TOKEN = 'a token that only operators know'.replaceAll(' ', '-');

async function openDialog(page: Page, label: string) {
  await page.locator('.holder-card', { hasText: label }).getByRole('button', { name: 'Free …' }).click();
  const dialog = page.getByRole('dialog');
  const confirm = dialog.getByRole('button', { name: 'Free this holder' });
  return { dialog, confirm, sure: dialog.getByRole('checkbox') };
}

describeInBrowser('freeing a lock on the page', (open) => {
  it('names the holder, wants a second action, and frees only that one', async () => {
    const audited: AuditEntry[] = [];
    const board = await openBoard({
      token: TOKEN,
      allowFree: true,
      audit: (entry) => void audited.push(entry),
    });
    const stuck = await holdInChild(board.redisUrl, 'report', { kind: 'read', label: 'stuck' });
    const good = await holdInChild(board.redisUrl, 'report', { kind: 'read', label: 'good' });
    const page = await open(`${board.url}?token=${TOKEN}&lock=report`);
    expect(page.url()).not.toContain(TOKEN);
    await page.locator('.holder-card').nth(1).waitFor();

    const { dialog, confirm, sure } = await openDialog(page, 'stuck');
    const text = await dialog.textContent();
    for (const named of ['report', 'stuck', String(stuck.child.pid), stuck.owner])
      expect(text).toContain(named);
    expect(text).not.toContain(good.owner);
    expect(await confirm.isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(audited).toEqual([]);

    await openDialog(page, 'stuck');
    await sure.check();
    await confirm.click();
    await dialog.getByText('Freed. The next waiter can have it.').waitFor();
    expect(audited).toMatchObject([
      { key: 'report', owner: stuck.owner, label: 'stuck', freed: null },
      { key: 'report', owner: stuck.owner, label: 'stuck', freed: true },
    ]);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.locator('.holder-card', { hasText: 'stuck' }).waitFor({ state: 'detached' });
    expect(await board.raw.command('HEXISTS', 'report', good.owner)).toBe(1);
    await page.getByText('Freed by force').first().waitFor();
  });

  it('leaves the next holder alone when the lock has passed on meanwhile', async () => {
    const board = await openBoard({ unprotected: true, allowFree: true, audit: () => {} });
    const { child } = await holdInChild(board.redisUrl, 'pay', { label: 'first' });
    const page = await open(`${board.url}?lock=pay`);
    const { dialog, confirm, sure } = await openDialog(page, 'first');
    const next = startHolder(board.redisUrl, 'pay', { label: 'second' });
    child.send({ release: true });
    const { owner } = await next.next(({ state }) => state === 'held');
    await dialog.getByText('It does not hold the lock any more.').waitFor();

    await sure.check();
    await confirm.click();
    await dialog.getByText('It held nothing any more').waitFor();
    expect(await board.raw.command('HEXISTS', 'pay', String(owner))).toBe(1);
  });

  it('is not offered where the dashboard only reads', async () => {
    const board = await openBoard();
    await holdInChild(board.redisUrl, 'pay', { label: 'first' });
    const page = await open(`${board.url}?lock=pay`);
    await page.locator('.holder-card', { hasText: 'first' }).waitFor();
    expect(await page.getByRole('button', { name: /free/i }).count()).toBe(0);
  });
});

describeInBrowser('authorisation', (open) => {
  it('shows nothing to those who have no token', async () => {
    const board = await openBoard({ token: TOKEN });
    await holdInChild(board.redisUrl, 'secret-name');
    const known = await open(`${board.url}?token=${TOKEN}`);
    await rowOf(known, 'secret-name').waitFor();
    const places = await known.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
    );
    expect(places.some((place) => place.endsWith('.js'))).toBe(true);

    const page = await open(board.url, { expected: /status of (?:401|404)/ });
    expect(await page.content()).not.toMatch(/secret-name|<script/);
    for (const place of [...places, 'api/stream', 'api/lock?name=secret-name']) {
      const response = await page.request.get(new URL(place, board.url).href);
      expect(response.status()).toBe(401);
      expect(await response.text()).not.toMatch(/secret-name|function/);
    }
  });

  it('says so when a session ends', async () => {
    const board = await openBoard({ token: TOKEN });
    await holdInChild(board.redisUrl, 'kept');
    const page = await open(`${board.url}?token=${TOKEN}`, { expected: /Failed to load resource|ERR_/ });
    await rowOf(page, 'kept').waitFor();
    await board.stop();
    await board.start({ token: `another-${TOKEN}` });
    await page.getByText('does not accept this session any more').waitFor({ timeout: 20_000 });
  });
});
