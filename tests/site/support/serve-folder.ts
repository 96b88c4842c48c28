/** Serves a folder under a base path, as any static host would. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

export interface FolderServer {
  readonly url: string;
  close(): Promise<void>;
}

async function contentOf(folder: string, path: string): Promise<{ type: string; body: Buffer } | null> {
  const file = path.endsWith('/') || path === '' ? `${path}index.html` : path;
  const body = await readFile(join(folder, file)).catch(() => null);
  return body === null ? null : { type: TYPES[extname(file)] ?? 'application/octet-stream', body };
}

export async function serveFolder(folder: string, base: string): Promise<FolderServer> {
  const server = createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://any').pathname);
    const content = path.startsWith(base)
      ? contentOf(folder, path.slice(base.length))
      : Promise.resolve(null);
    void content.then((found) => {
      if (found === null) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': found.type }).end(found.body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${base}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
