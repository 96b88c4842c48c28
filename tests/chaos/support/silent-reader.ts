/** A reader that never acknowledges, attached until the test ends. */
import { onTestFinished } from 'vitest';
import type { TestServer } from '../../../src/testing/index.ts';
import { startReader } from '../../harness/silent-reader.ts';

export { ANNOUNCED, PLAIN } from '../../harness/silent-reader.ts';

/** Attaches a reader until the test ends; answers how the reader leaves. */
export async function attachReader(
  server: TestServer,
  words: readonly string[],
): Promise<() => Promise<void>> {
  const leave = await startReader(server, words);
  onTestFinished(leave);
  return leave;
}
