/**
 * A server that speaks TLS on one port, and for the test's own commands plain text on another: the raw
 * connections of the test kit have no TLS.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../src/embedded/free-port.ts';
import { startServer, type TestServer } from '../../src/testing/index.ts';
import { PortTakenError } from '../../src/testing/server-process.ts';
import { createCertificate } from './certificate.ts';
import { orClose } from './start-together.ts';

export interface TlsServerOptions {
  /** Further arguments. Clients need no certificate, unless these say so. */
  readonly args?: readonly string[];
  readonly binary?: string;
}

export interface TlsServer {
  readonly host: string;
  /** The port that speaks TLS. */
  readonly port: number;
  /** `rediss://127.0.0.1:<port>` */
  readonly url: string;
  /** What a client has to trust; PEM. Good for 127.0.0.1 and for localhost. */
  readonly ca: string;
  /** The process, whose own port speaks plain text. */
  readonly server: TestServer;
  close(): Promise<void>;
}

const ATTEMPTS = 10;

async function startOn(port: number, dir: string, options: TlsServerOptions): Promise<TestServer> {
  const { binary, args = [] } = options;
  const files = ['--tls-cert-file', join(dir, 'cert.pem'), '--tls-key-file', join(dir, 'key.pem')];
  const trust = ['--tls-ca-cert-file', join(dir, 'cert.pem'), '--tls-auth-clients', 'no'];
  const given = ['--tls-port', String(port), ...files, ...trust, ...args];
  return startServer(binary === undefined ? { args: given } : { args: given, binary });
}

async function startOnFreePort(dir: string, options: TlsServerOptions) {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    try {
      return { port, server: await startOn(port, dir, options) };
    } catch (error) {
      if (!(error instanceof PortTakenError) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Starts a server with a certificate of its own; resolves when it answers. */
export async function startTlsServer(options: TlsServerOptions = {}): Promise<TlsServer> {
  const { cert, key } = createCertificate();
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-tls-'));
  const remove = () => rm(dir, { recursive: true, force: true });
  return orClose({ close: remove }, async () => {
    await writeFile(join(dir, 'cert.pem'), cert);
    await writeFile(join(dir, 'key.pem'), key, { mode: 0o600 });
    const { port, server } = await startOnFreePort(dir, options);
    return {
      host: server.host,
      port,
      url: `rediss://${server.host}:${port}`,
      ca: cert,
      server,
      close: async () => {
        await server.close();
        await remove();
      },
    };
  });
}
