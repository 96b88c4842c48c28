/** What the tests that search have in common. */

/** In the name of what is skipped where there is no spin. */
export const NEEDS_SPIN = '[needs spin and gcc]';

/** A search may share its core with many other tests. */
export const SEARCH_MS = 900_000;
