/**
 * Iterates over the keys of one server, page by page: the reader sets the pace, also where few keys match. The adapter
 * sends the commands.
 */
import type { ScriptReply } from './driver.ts';

/** Keys per SCAN: enough to be quick, few enough not to block the server. */
const SCAN_COUNT = '500';

export async function* scanWith(
  send: (args: [string, ...string[]]) => Promise<ScriptReply>,
  pattern: string,
): AsyncIterable<readonly string[]> {
  let cursor = '0';
  do {
    const page = await send(['scan', cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT]);
    const [next, keys] = page as [string, string[]];
    yield keys;
    cursor = String(next);
  } while (cursor !== '0');
}
