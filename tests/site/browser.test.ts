/** The site in a browser: it renders, searches, is readable by day and by night, and fits a telephone. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { NAVIGATION, PAGES } from '../../site/navigation.ts';
import { placeOf } from '../../site/places.ts';
import { CHROMIUM_ARGS, NEEDS_CHROMIUM } from '../harness/find-chromium.ts';
import { measureContrast } from './support/contrast.ts';

const program = inject('chromium');
const home = inject('siteUrl');
const PHONE: BrowserContextOptions = {
  viewport: { width: 375, height: 667 },
  hasTouch: true,
  isMobile: true,
};
/** What WCAG 2 asks of text, level AA. */
const LEAST_CONTRAST = 4.5;
/** Every page is opened. */
const ALL_WITHIN_MS = 180_000;

const htmlOf = (place: string) => place.replace(/md$/, 'html');
const API_PAGE = 'api/holdfast/interfaces/Lock.html';
const everyPage = [...PAGES.map((page) => htmlOf(placeOf(page))), API_PAGE];

describe.skipIf(program === null)(
  `the site in a browser${program === null ? ` ${NEEDS_CHROMIUM}` : ''}`,
  () => {
    let browser: Browser;
    let problems: string[] = [];

    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: program ?? '', args: [...CHROMIUM_ARGS] });
    });
    afterAll(() => browser.close());

    async function openBrowser(options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      const page = await context.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
      });
      page.on('pageerror', ({ message }) => problems.push(message));
      page.on('response', (response) => {
        if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
      });
      page.on('request', (request) => {
        if (!request.url().startsWith(home) && !request.url().startsWith('data:'))
          problems.push(`${request.url()} is elsewhere`);
      });
      return page;
    }

    async function open(page: Page, place: string): Promise<void> {
      await page.goto(home + place, { waitUntil: 'networkidle' });
    }

    afterEach(async () => {
      const found = problems;
      problems = [];
      await Promise.all(browser.contexts().map((context) => context.close()));
      expect(found).toEqual([]);
    });

    it('shows the home page with its code and its picture', async () => {
      const page = await openBrowser();
      await open(page, '');
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('holdfast');
      expect(await page.locator('.vp-doc pre code').first().textContent()).toContain('npm install holdfast');
      const picture = page.locator('.vp-doc img').first();
      await picture.scrollIntoViewIfNeeded();
      expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(100);
      await page.getByRole('link', { name: 'Get started' }).click();
      await page.waitForURL(`**/${htmlOf(placeOf(NAVIGATION[0]?.pages[0] ?? ''))}`);
    });

    it('shows a guide with highlighted code, a menu of all pages and an outline', async () => {
      const page = await openBrowser();
      await open(page, 'guides/locks.html');
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('Locks');
      const colours = await page
        .locator('.vp-doc .language-ts code')
        .first()
        .evaluate(
          (code) =>
            new Set([...code.querySelectorAll('span')].map((span) => getComputedStyle(span).color)).size,
        );
      expect(colours).toBeGreaterThan(2);
      expect(await page.locator('.VPSidebar a').count()).toBe(PAGES.length - 1);
      expect(await page.locator('.VPDocAsideOutline a').count()).toBeGreaterThan(3);
      const edit = page.getByRole('link', { name: 'Edit this page' });
      expect(await edit.getAttribute('href')).toMatch(/\/edit\/main\/docs\/guides\/locks\.md$/);
    });

    it('finds fencing, and opens what it found', async () => {
      const page = await openBrowser();
      await open(page, '');
      await page.getByRole('button', { name: 'Search' }).first().click();
      await page.getByRole('searchbox').fill('fencing');
      const results = page.locator('.VPLocalSearchBox .result');
      await results.first().waitFor();
      // Guides come before the API reference.
      expect(await results.first().getAttribute('href')).not.toContain('/api/');
      await results.filter({ hasText: 'Fenced lock' }).first().click();
      await page.locator('.VPLocalSearchBox').waitFor({ state: 'detached' });
      expect(page.url()).toContain('/guides/fenced-lock.html');
      // The address changes before the page does.
      await page.getByRole('heading', { level: 1, name: 'Fenced lock' }).waitFor();
    });

    it.each(['light', 'dark'] as const)('is readable in %s', async (colorScheme) => {
      const page = await openBrowser({ colorScheme });
      const backgrounds = new Set<string>();
      for (const place of ['', 'guides/locks.html', 'guarantees.html', API_PAGE]) {
        await open(page, place);
        const texts = await measureContrast(page, '.VPNav, .VPSidebar, .VPContent');
        expect(texts.length).toBeGreaterThan(50);
        expect(texts.filter(({ ratio }) => ratio < LEAST_CONTRAST)).toEqual([]);
        for (const { background } of texts) backgrounds.add(background);
      }
      expect(backgrounds.has('255 255 255')).toBe(colorScheme === 'light');
    });

    it('switches between light and dark, and keeps to it', async () => {
      const page = await openBrowser({ colorScheme: 'light' });
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await open(page, 'guides/locks.html');
      expect(await background()).toBe('rgb(255, 255, 255)');
      await page.locator('.VPNavBarAppearance').getByRole('switch').click();
      await expect.poll(background).not.toBe('rgb(255, 255, 255)');
      const dark = await background();
      await open(page, 'operations.html');
      expect(await background()).toBe(dark);
    });

    it('has menus that work on a telephone', async () => {
      const page = await openBrowser(PHONE);
      await open(page, 'guides/locks.html');
      const entry = page.locator('.VPSidebar').getByRole('link', { name: 'Semaphore', exact: true });
      await page.getByRole('button', { name: 'Menu', exact: true }).tap();
      await entry.tap();
      await page.waitForURL('**/guides/semaphore.html');
      await expect.poll(() => page.locator('.VPSidebar.open').count()).toBe(0);
      await page.getByRole('button', { name: 'mobile navigation' }).tap();
      await page.locator('.VPNavScreen').getByRole('link', { name: 'API' }).tap();
      await page.waitForURL('**/api/');
    });

    it(
      'shows every page on a telephone, with its heading and its pictures, without scrolling sideways',
      async () => {
        const page = await openBrowser(PHONE);
        for (const place of everyPage) {
          await open(page, place);
          expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/\w/);
          const pictures = page.locator('.VPContent img');
          for (const picture of await pictures.all()) await picture.scrollIntoViewIfNeeded();
          const broken = await pictures.evaluateAll((images) =>
            (images as HTMLImageElement[])
              .filter(({ naturalWidth }) => naturalWidth === 0)
              .map(({ src }) => src),
          );
          const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
          expect({ place, broken, widths }).toEqual({ place, broken: [], widths: [375, 375] });
        }
      },
      ALL_WITHIN_MS,
    );
  },
);
