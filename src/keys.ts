/**
 * Name → keys and channels. Nobody else spells a key.
 *
 * The templates are Redisson's, so that a Java client meets us on the same keys. The braces are hash tags:
 * they keep what belongs together in one slot of a Cluster. Redisson only looks for an opening brace, and
 * so do we.
 */

/** `prefix:{name}`, or `prefix:name` when the name brings its own braces. */
function prefixed(prefix: string, name: string): string {
  return name.includes('{') ? `${prefix}:${name}` : `${prefix}:{${name}}`;
}

/** Where the releases of a lock are announced. */
export function lockChannel(name: string): string {
  return prefixed('redisson_lock__channel', name);
}

/**
 * Marks an owner whose hold is over. Redisson keeps the answer of an unlock under the same template, with
 * a random id where we have the owner: our owners are never used twice.
 */
export function endedKey(name: string, owner: string): string {
  return `${prefixed('redisson_unlock_latch', name)}:${owner}`;
}
