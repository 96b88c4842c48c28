/**
 * A server that speaks TLS, and a Sentinel that speaks TLS to it and names it by its host name. Who asks the
 * Sentinel has to trust the certificate of the server; the Sentinel itself answers in plain text.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../src/embedded/free-port.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { createCertificate } from './certificate.ts';
import { startSentinels } from './sentinels.ts';
import { orClose } from './start-together.ts';

export interface TlsSentinelOptions {
  readonly binary?: string;
}

export interface TlsSentinel {
  /** What the Sentinel calls the server. */
  readonly name: string;
  /** Where the Sentinel is. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** The port of the server that speaks TLS, which is the one that the Sentinel names. */
  readonly port: number;
  /** What a client has to trust; PEM. Good for the host name. */
  readonly ca: string;
  /** The process, whose own port speaks plain text. */
  readonly server: TestServer;
  close(): Promise<void>;
}

const HOST_NAME = 'localhost';

/** Starts both; resolves when the Sentinel watches over the server. */
export async function startTlsSentinel(options: TlsSentinelOptions = {}): Promise<TlsSentinel> {
  const { cert, key } = createCertificate();
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-tls-'));
  const remove = () => rm(dir, { recursive: true, force: true });
  return orClose({ close: remove }, async () => {
    const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
    await writeFile(certFile, cert);
    await writeFile(keyFile, key, { mode: 0o600 });
    const files = [
      ['tls-cert-file', certFile],
      ['tls-key-file', keyFile],
      ['tls-ca-cert-file', certFile],
    ] as const;
    const port = await findFreePort();
    const watched = await startSentinels({
      ...options,
      sentinels: 1,
      replicas: 0,
      args: [
        ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
        ...files.flatMap(([setting, file]) => [`--${setting}`, file]),
      ],
      primaryAt: { host: HOST_NAME, port },
      sentinelLines: [
        ...['sentinel resolve-hostnames yes', 'sentinel announce-hostnames yes', 'tls-replication yes'],
        ...files.map((line) => line.join(' ')),
      ],
    });
    return {
      name: watched.name,
      addresses: watched.addresses,
      port,
      ca: cert,
      server: watched.servers[0] as TestServer,
      close: async () => {
        await watched.close();
        await remove();
      },
    };
  });
}
