/**
 * Names and keys: with `--key-prefix`, the key of a lock is the prefix and its name.
 */
import type { Description } from '../inspect/description.ts';
import { plain } from '../inspect/reading.ts';

/** The name of a key; null for a key that has another prefix. */
export function nameOf(key: string, prefix = ''): string | null {
  return key.startsWith(prefix) ? key.slice(prefix.length) : null;
}

/** A prefix may contain characters that have a meaning in a pattern. */
export function patternOf(pattern: string, prefix = ''): string {
  return prefix.replace(/[\\*?[\]]/g, '\\$&') + pattern;
}

/** A description as JSON, with the name before it. */
export function named(found: Description, prefix = ''): object {
  return { name: nameOf(found.key, prefix) ?? found.key, ...plain(found) };
}
