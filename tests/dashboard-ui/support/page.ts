/** Where things are on the page. */
import type { Locator, Page } from 'playwright-core';

/** The row of a lock in the list. */
export function rowOf(page: Page, name: string): Locator {
  return page.locator(`.row[data-key=${JSON.stringify(name)}]`);
}

/** The names in the list, from top to bottom. */
export function namesIn(page: Page): Promise<string[]> {
  return page
    .locator('.row')
    .evaluateAll((rows) =>
      (rows as HTMLElement[])
        .toSorted((one, other) => one.offsetTop - other.offsetTop)
        .map(({ dataset }) => dataset['key'] ?? ''),
    );
}
