/**
 * What a server refuses to a user, read from its error.
 */

/** The command itself, the key, or the channel; null if it refuses nothing. */
export function refusalIn(message: string): 'command' | 'key' | 'channel' | null {
  if (/^ERR unknown command/i.test(message)) return 'command';
  if (!message.startsWith('NOPERM')) return null;
  if (/channel/i.test(message)) return 'channel';
  return /access (?:a key|one of the keys)|\bkeys? used|permissions to access/i.test(message)
    ? 'key'
    : 'command';
}
