/** The page follows what happens at the server. */
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { eventually } from '../harness/wait.ts';
import { openBoard } from './support/board.ts';
import { describeInBrowser } from './support/browser.ts';
import { holdInChild, startHolder } from './support/children.ts';
import { rowOf } from './support/page.ts';

/** What is left of a lease, as the width of its bar. */
function shareOf(row: Locator): Promise<number> {
  return row.locator('.fill').evaluate((fill) => new DOMMatrix(getComputedStyle(fill).transform).a);
}

/** The clients of the waiters; they have no label before they have held something. */
async function queueOf(page: Page): Promise<string[]> {
  const owners = await page.locator('.queue .owner').allTextContents();
  return owners.map((owner) => owner.split(':')[0] ?? '');
}

describeInBrowser('the page of a dashboard', (open) => {
  it('shows a lock when a process takes it, and the process on focus', async () => {
    const board = await openBoard();
    const page = await open(board.url);
    await page.getByText('No lock is held').waitFor();
    const { child, owner } = await holdInChild(board.redisUrl, 'invoice:42', { label: 'billing-1' });

    const row = rowOf(page, 'invoice:42');
    await row.waitFor();
    await row.getByText('billing-1').waitFor();
    const tip = row.locator('.tip');
    expect(await tip.textContent()).toContain(`process ${child.pid}`);
    expect(await tip.textContent()).toContain(owner);
    expect(await tip.evaluate((element) => getComputedStyle(element).opacity)).toBe('0');
    await page.keyboard.press('j');
    await eventually(
      async () => (await tip.evaluate((element) => getComputedStyle(element).opacity)) === '1',
    );
    expect(await page.locator('.tile', { hasText: 'Held' }).locator('.value').textContent()).toBe('1');
  });

  it('shows a lease that runs down, and its end', async () => {
    const board = await openBoard();
    const page = await open(board.url);
    await holdInChild(board.redisUrl, 'short', { leaseMs: 6_000 });
    const row = rowOf(page, 'short');
    await row.waitFor();
    const shares: number[] = [];
    await eventually(
      async () => {
        shares.push(await shareOf(row));
        return (shares.at(-1) ?? 1) < 0.5;
      },
      { everyMs: 100 },
    );
    expect(shares[0]).toBeGreaterThan(0.5);
    expect(shares).toEqual(shares.toSorted((one, other) => other - one));
    await row.waitFor({ state: 'detached' });
  });

  it('lets the bar jump back when the lease is renewed', async () => {
    const board = await openBoard();
    const page = await open(board.url);
    await holdInChild(board.redisUrl, 'long', { watchdogMs: 3_000 });
    const row = rowOf(page, 'long');
    await row.waitFor();
    let least = 1;
    await eventually(
      async () => {
        const share = await shareOf(row);
        least = Math.min(least, share);
        return share > least + 0.1;
      },
      { withinMs: 15_000, everyMs: 50 },
    );
  });

  it('shows that a killed holder is gone', async () => {
    const board = await openBoard();
    const page = await open(board.url);
    const { child } = await holdInChild(board.redisUrl, 'doomed', { watchdogMs: 2_000 });
    await rowOf(page, 'doomed').waitFor();
    child.kill('SIGKILL');
    await rowOf(page, 'doomed').waitFor({ state: 'detached' });
    await page.getByText('No lock is held').waitFor();
  });

  it('shows the waiters of a fair lock in order, and how one moves up', async () => {
    const board = await openBoard();
    const page = await open(`${board.url}?lock=queue`);
    const queueUp = async (label: string) => {
      const waiter = startHolder(board.redisUrl, 'queue', { kind: 'fair', label });
      const { clientId } = await waiter.next(({ state }) => state === 'asking');
      return { waiter, clientId };
    };
    const { child } = await holdInChild(board.redisUrl, 'queue', { kind: 'fair', label: 'first' });
    const card = page.locator('.holder-card .label');
    await card.getByText('first').waitFor();
    const second = await queueUp('second');
    await eventually(async () => expect(await queueOf(page)).toEqual([second.clientId]));
    const third = await queueUp('third');
    await eventually(async () => expect(await queueOf(page)).toEqual([second.clientId, third.clientId]));

    child.send({ release: true });
    await second.waiter.next(({ state }) => state === 'held');
    await card.getByText('second').waitFor();
    await eventually(async () => expect(await queueOf(page)).toEqual([third.clientId]));
    await page.getByRole('region', { name: 'History' }).getByText('first').first().waitFor();
  });

  it('draws what clients of its process tell, and says so when none does', async () => {
    const board = await openBoard();
    const page = await open(board.url);
    await page.getByText('no client in the dashboard’s process has told anything').waitFor();
    await page.getByText('Sampled at the server', { exact: true }).waitFor();

    const hold = await board.client.getLock('told').lock();
    await hold.unlock();
    await page.getByRole('img', { name: /^Calls per .*: calls/ }).waitFor({ timeout: 25_000 });
    expect(await page.locator('.tile', { hasText: 'Contended' }).locator('.value').textContent()).toBe('0 %');
  });

  it('says that the connection is lost, lets no age grow, and comes back', async () => {
    const board = await openBoard();
    const page = await open(board.url, { expected: /Failed to load resource|ERR_/, hasOwnClock: true });
    await holdInChild(board.redisUrl, 'kept', { label: 'billing-1' });
    const age = rowOf(page, 'kept').locator('.age');
    await age.waitFor();
    const colour = () => age.evaluate((element) => getComputedStyle(element).color);
    const live = await colour();

    await board.stop();
    const banner = page.getByText('The connection to the dashboard is lost');
    await banner.waitFor();
    expect(await colour()).not.toBe(live);
    const before = await age.textContent();
    await page.clock.fastForward('01:00:00');
    expect(await age.textContent()).toBe(before);

    await board.start();
    await banner.waitFor({ state: 'detached' });
    await holdInChild(board.redisUrl, 'new');
    await rowOf(page, 'new').waitFor();
    expect(await colour()).toBe(live);
  });
});
