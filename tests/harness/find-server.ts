/**
 * Which server the tests run against, in this order: REDIS_URL, a program on PATH, on CI one that the package
 * manager installs, the embedded one. `HOLDFAST_TEST_SERVER=embedded` goes straight to the last.
 */
import { findServerBinary, startEmbeddedServer, startServer } from '../../src/testing/index.ts';
import { installPackages } from './apt-get.ts';

export interface FoundServer {
  readonly url: string;
  readonly kind: 'url' | 'process' | 'embedded';
  readonly binary: string | null;
  /** For people. */
  readonly description: string;
  close(): Promise<void>;
}

export async function startProcess(binary: string): Promise<FoundServer> {
  const server = await startServer({ binary });
  return {
    url: server.url,
    kind: 'process',
    binary,
    description: `${binary} at ${server.url}`,
    close: () => server.close(),
  };
}

async function startEmbedded(): Promise<FoundServer> {
  const server = await startEmbeddedServer();
  return {
    url: server.url,
    kind: 'embedded',
    binary: null,
    description: `the embedded server at ${server.url}; tests that need a server process are skipped`,
    close: () => server.close(),
  };
}

export async function findServer(say: (text: string) => void): Promise<FoundServer> {
  const { REDIS_URL: url = '', HOLDFAST_TEST_SERVER: wanted = '' } = process.env;
  if (wanted === 'embedded') return startEmbedded();
  if (url !== '') {
    const binary = findServerBinary();
    const description = `REDIS_URL${binary === null ? '; tests that need a server process are skipped' : ''}`;
    return { url, kind: 'url', binary, description, close: async () => {} };
  }
  if (findServerBinary() === null) await installPackages(['redis-server'], say);
  const binary = findServerBinary();
  return binary === null ? startEmbedded() : startProcess(binary);
}
