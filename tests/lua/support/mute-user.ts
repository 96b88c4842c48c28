/** A user whose releases wake nobody. */
import type { TestServer } from '../../../src/testing/index.ts';

/** Redis 6.0 has no permissions for channels: there the user may not publish at all. */
export async function addMuteUser(server: TestServer): Promise<void> {
  const allow = (right: string) =>
    server.command('ACL', 'SETUSER', 'mute', 'on', 'nopass', '~*', '+@all', right);
  await allow('resetchannels').catch(() => allow('-publish'));
}
