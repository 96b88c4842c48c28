/**
 * A reader of the replication stream that never acknowledges: what `redis-cli --replica`, backups and change capture
 * look like to a primary.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestServer } from '../../src/testing/index.ts';

/** How `redis-cli --replica` asks for the stream. */
export const PLAIN = ['SYNC'];
/** How a replica does: with the port that it listens on. */
export const ANNOUNCED = ['REPLCONF listening-port 6379', 'REPLCONF capa eof capa psync2', 'PSYNC ? -1'];

const ANSWERED_WITHIN_MS = 5_000;

/** Attaches a reader; answers how the reader leaves. */
export async function startReader(
  { host, port }: TestServer,
  words: readonly string[],
): Promise<() => Promise<void>> {
  const socket = connect({ host, port });
  await once(socket, 'connect');
  socket.on('error', () => {});
  const leave = async () => {
    if (socket.closed) return;
    socket.destroy();
    await once(socket, 'close');
  };
  const signal = AbortSignal.timeout(ANSWERED_WITHIN_MS);
  try {
    for (const word of words) {
      socket.write(`${word}\r\n`);
      // The server refuses the last of them while it still owes a reply.
      if (word !== words.at(-1)) await once(socket, 'data', { signal });
    }
  } catch (error) {
    await leave();
    throw error;
  }
  socket.resume();
  return leave;
}
