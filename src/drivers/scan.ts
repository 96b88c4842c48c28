/**
 * Walks the keys of one server, page by page. How a command is sent is left to the adapter.
 */
import type { ScriptReply } from './driver.ts';

/** Keys fetched by one SCAN; enough to be quick, small enough not to hold up the server. */
const SCAN_COUNT = '500';

export async function* scanWith(
  send: (args: [string, ...string[]]) => Promise<ScriptReply>,
  pattern: string,
): AsyncIterable<string> {
  let cursor = '0';
  do {
    const page = await send(['scan', cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT]);
    const [next, keys] = page as [string, string[]];
    yield* keys;
    cursor = String(next);
  } while (cursor !== '0');
}
