/**
 * The pages of the site in reading order: what people want to do first, then primitive by primitive, then how to run
 * it and why to trust it, then how to work on it. A page is a Markdown file of this repository; its heading is its
 * title. A page of `docs/` that is missing here fails a test, and so does an entry without a page.
 */
export interface Section {
  readonly title: string;
  /** Paths from the root of the repository. */
  readonly pages: readonly string[];
}

/** Becomes the home page. */
export const HOME = 'README.md';

export const NAVIGATION: readonly Section[] = [
  {
    title: 'Start',
    pages: ['docs/getting-started.md', 'docs/choosing.md', 'docs/questions.md', 'docs/glossary.md'],
  },
  {
    title: 'Recipes',
    pages: [
      'docs/recipes/README.md',
      'docs/recipes/run-a-job-once.md',
      'docs/recipes/one-worker-per-customer.md',
      'docs/recipes/one-leader.md',
      'docs/recipes/http-endpoint-once.md',
      'docs/recipes/rate-limit-http.md',
      'docs/recipes/fence-a-sql-row.md',
      'docs/recipes/migration-at-start-up.md',
      'docs/recipes/shutting-down.md',
    ],
  },
  {
    title: 'Locks',
    pages: [
      'docs/guides/locks.md',
      'docs/guides/fair-lock.md',
      'docs/guides/read-write-lock.md',
      'docs/guides/fenced-lock.md',
      'docs/guides/multi-lock.md',
      'docs/guides/red-lock.md',
      'docs/guides/simple-lock.md',
      'docs/guides/spin-lock.md',
      'docs/guides/web-locks.md',
    ],
  },
  {
    title: 'Counting',
    pages: [
      'docs/guides/semaphore.md',
      'docs/guides/permit-semaphore.md',
      'docs/guides/count-down-latch.md',
      'docs/guides/rate-limiter.md',
    ],
  },
  {
    title: 'In production',
    pages: [
      'docs/guides/topologies.md',
      'docs/operations.md',
      'docs/guides/operating.md',
      'docs/guides/observing.md',
      'docs/telemetry.md',
      'docs/guides/inspecting.md',
      'docs/guides/dashboard.md',
      'docs/guides/command-line.md',
      'docs/guides/errors.md',
      'docs/guides/testing.md',
      'docs/compatibility.md',
      'SECURITY.md',
    ],
  },
  {
    title: 'Beside other libraries',
    pages: [
      'docs/redisson.md',
      'docs/comparison.md',
      'docs/moving/from-redlock.md',
      'docs/moving/from-redis-semaphore.md',
      'docs/moving/from-redisson.md',
    ],
  },
  {
    title: 'Why to trust it',
    pages: ['docs/guarantees.md', 'docs/proofs.md', 'docs/model.md', 'bench/results/README.md'],
  },
  {
    title: 'Working on it',
    pages: ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  },
];

/** Every page, the home page first. */
export const PAGES: readonly string[] = [HOME, ...NAVIGATION.flatMap(({ pages }) => pages)];
