/** Tests in a real browser. Whatever the browser complains about makes a test fail. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject } from 'vitest';
import { CHROMIUM_ARGS, NEEDS_CHROMIUM } from '../../harness/find-chromium.ts';
import { NEEDS_PROCESS } from '../../harness/skipped.ts';

export interface OpenOptions extends BrowserContextOptions {
  /** Complaints that belong to the test. */
  readonly expected?: RegExp;
  /** Whether the test moves the page's clock. */
  readonly hasOwnClock?: boolean;
}

export type OpenPage = (url: string, options?: OpenOptions) => Promise<Page>;

export const PHONE: BrowserContextOptions = {
  viewport: { width: 360, height: 740 },
  hasTouch: true,
  isMobile: true,
};

/** Browser, server and children start in each test; whatever a test waits for has a bound of its own. */
const TEST_WITHIN_MS = 60_000;

const program = inject('chromium');

function missing(): string[] {
  return [
    ...(program === null ? [NEEDS_CHROMIUM] : []),
    ...(inject('serverBinary') === null ? [NEEDS_PROCESS] : []),
  ];
}

/** `describe` for tests that open the page of a dashboard. */
export function describeInBrowser(name: string, define: (open: OpenPage) => void): void {
  describe.skipIf(missing().length > 0)([name, ...missing()].join(' '), { timeout: TEST_WITHIN_MS }, () => {
    let browser: Browser;
    let problems: string[] = [];

    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: program ?? '', args: [...CHROMIUM_ARGS] });
    });
    afterAll(() => browser.close());
    afterEach(async () => {
      await Promise.all(browser.contexts().map((context) => context.close()));
      const found = problems;
      problems = [];
      expect(found).toEqual([]);
    });

    define(async (url, { expected, hasOwnClock = false, ...options } = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      const page = await context.newPage();
      watch(page, new URL(url).origin, (problem) => {
        if (expected?.test(problem) !== true) problems.push(problem);
      });
      if (hasOwnClock) await page.clock.install();
      await page.goto(url);
      return page;
    });
  });
}

function watch(page: Page, origin: string, complain: (problem: string) => void): void {
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complain(message.text());
  });
  page.on('pageerror', ({ message }) => complain(message));
  page.on('dialog', (dialog) => {
    complain(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) complain(`${request.url()} is elsewhere`);
  });
}
