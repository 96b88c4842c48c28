/** A user whose releases wake nobody. */
import type { RawConnection, TestServer } from '../../../src/testing/index.ts';
import { openRaw, ownServer } from '../../harness/servers.ts';

/** Redis 6.0 has no permissions for channels: there the user may not publish at all. */
async function addMuteUser(server: TestServer): Promise<void> {
  const allow = (right: string) =>
    server.command('ACL', 'SETUSER', 'mute', 'on', 'nopass', '~*', '+@all', right);
  await allow('resetchannels').catch(() => allow('-publish'));
}

/** A server of the test's own, and a connection of that user. */
export async function openMute(): Promise<{ server: TestServer; connection: RawConnection }> {
  const server = await ownServer();
  await addMuteUser(server);
  const connection = await openRaw(server.host, server.port);
  await connection.command('AUTH', 'mute', 'any');
  return { server, connection };
}
