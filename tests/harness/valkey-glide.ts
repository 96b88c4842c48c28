/**
 * Clients of Valkey GLIDE as a user makes them; on request with a way to close them that leaves no connection
 * behind: GLIDE itself keeps them for another three seconds, which tests that count connections must not see.
 */
import { randomUUID } from 'node:crypto';
import { GlideClient, GlideClusterClient, Logger } from '@valkey/valkey-glide';
import { RawConnection } from '../../src/testing/index.ts';

/** Every script that a server does not know yet would be a line on the screen. */
Logger.setLoggerConfig('off');

export interface GlideSettings {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  /** What to trust, where the server speaks TLS; PEM. */
  readonly ca?: string;
}

/** Longer than GLIDE's own 250 ms: a machine that runs many tests at once may keep a server waiting. */
const REQUEST_TIMEOUT_MS = 10_000;

/** GLIDE itself takes no certificate that is its own authority. */
const UNCHECKED = { tlsAdvancedConfiguration: { insecure: true } };

/** What a client is made with. */
export function glideConfig({ host, port, username, password, db = 0, ca }: GlideSettings) {
  return {
    addresses: [{ host, port }],
    requestTimeout: REQUEST_TIMEOUT_MS,
    ...(password !== undefined && { credentials: { username: username ?? '', password } }),
    ...(db !== 0 && { databaseId: db }),
    ...(ca !== undefined && {
      useTLS: true,
      advancedConfiguration: { tlsAdvancedConfiguration: { rootCertificates: ca } },
    }),
  };
}

/** Connects a client to one server, to be closed by GLIDE's own `close()`. */
export function createGlide(settings: GlideSettings): Promise<GlideClient> {
  return GlideClient.createClient(glideConfig(settings));
}

async function open<Client extends GlideClient | GlideClusterClient>(
  library: { createClient(config: ReturnType<typeof glideConfig>): Promise<Client> },
  settings: GlideSettings,
) {
  const config = glideConfig(settings);
  const clientName = randomUUID();
  const trust = settings.ca === undefined ? {} : { advancedConfiguration: UNCHECKED };
  const client = await library.createClient(Object.assign({ clientName }, config, trust));
  const close = async () => {
    client.close();
    // The server may be gone: then there is nothing to hurry up.
    await cutOff(settings, clientName).catch(() => undefined);
  };
  return { client, config, close };
}

/** Connects a client to one server. */
export function openGlide(settings: GlideSettings) {
  return open(GlideClient, settings);
}

/** Connects a client to a Cluster, of which one node is known. */
export function openGlideCluster(settings: GlideSettings) {
  return open(GlideClusterClient, settings);
}

async function cutOff({ host, port, username = 'default', password }: GlideSettings, clientName: string) {
  const connection = await RawConnection.connect(host, port);
  try {
    if (password !== undefined) await connection.command('AUTH', username, password).catch(() => undefined);
    const list = String(await connection.command('CLIENT', 'LIST')).split('\n');
    for (const line of list.filter((each) => each.includes(` name=${clientName} `))) {
      await connection.command('CLIENT', 'KILL', 'ID', /\bid=(\d+)/.exec(line)?.[1] ?? '');
    }
  } finally {
    await connection.close();
  }
}
