/**
 * Takes the pictures of the dashboard in `docs/images`: the built page, told a sample hour. The page's clock stands
 * still. It looks as on most machines where the font Inter is installed.
 */
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { CHROMIUM_ARGS, findChromium } from '../tests/harness/find-chromium.ts';
import { buildPage } from './dashboard-page.ts';
import { NOW, SHOWN_LOCK, sampleHello, samplePage, sampleRows } from './dashboard-sample.ts';
import { shrinkPng } from './shrink-png.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'dist', 'dashboard-ui');
const images = join(root, 'docs', 'images');
/** They are part of the repository and of the package. */
const MOST_BYTES = 150_000;

interface Picture extends BrowserContextOptions {
  readonly name: string;
  readonly query: string;
}

const DESKTOP = { width: 1_280, height: 860 };
const PICTURES: readonly Picture[] = [
  { name: 'light', query: '', viewport: DESKTOP, colorScheme: 'light' },
  { name: 'dark', query: '?sort=-waiting', viewport: DESKTOP, colorScheme: 'dark' },
  {
    name: 'lock',
    query: `?lock=${encodeURIComponent(SHOWN_LOCK)}`,
    viewport: { width: 1_280, height: 690 },
    colorScheme: 'light',
  },
  {
    name: 'phone',
    query: '',
    viewport: { width: 390, height: 1_000 },
    colorScheme: 'light',
    isMobile: true,
    deviceScaleFactor: 1.5,
  },
];

/** Text as on any screen, not as on the one of this machine. */
const LOOKS = ['--disable-lcd-text', '--font-render-hinting=none'];

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

function tellSample(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const tell = (name: string, data: unknown) =>
    response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  tell('hello', sampleHello());
  tell('locks', { at: NOW, whole: true, changed: sampleRows(), gone: [] });
}

function answer(url: URL, response: ServerResponse): void {
  if (url.pathname === '/api/stream') {
    tellSample(response);
    return;
  }
  if (url.pathname === '/api/lock') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(samplePage(url.searchParams.get('name') ?? '')));
    return;
  }
  const file = join(page, url.pathname === '/' ? 'index.html' : url.pathname);
  if (!existsSync(file)) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain' });
  response.end(readFileSync(file));
}

async function take(browser: Browser, url: string, { name, query, ...options }: Picture): Promise<void> {
  const context = await browser.newContext({
    ...options,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  const opened = await context.newPage();
  await opened.clock.setFixedTime(NOW);
  await opened.goto(url + query);
  await opened.locator('.row, .history .happening').first().waitFor();
  const path = join(images, `dashboard-${name}.png`);
  const picture = shrinkPng(await opened.screenshot());
  writeFileSync(path, picture);
  const { length: size } = picture;
  process.stdout.write(`${path}: ${Math.round(size / 1_000)} KB\n`);
  if (size > MOST_BYTES) throw new Error(`${path} has more than ${MOST_BYTES} bytes`);
  await context.close();
}

const executablePath = await findChromium((text) => process.stdout.write(`${text}\n`));
if (executablePath === null) throw new Error('Pictures need Debian’s chromium on PATH');
await buildPage(page);
mkdirSync(images, { recursive: true });
const server = createServer(({ url = '/' }, response) => answer(new URL(url, 'http://any'), response));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const browser = await chromium.launch({ executablePath, args: [...CHROMIUM_ARGS, ...LOOKS] });
try {
  for (const picture of PICTURES) await take(browser, `http://127.0.0.1:${port}/`, picture);
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
}
