/**
 * Serves requests of `node:http`, and of the frameworks on top of it, with a handler of `Request` and `Response`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

type Fetch = (request: Request) => Promise<Response>;

/** A request as frameworks hand it on: the path before mounting, and a body that was read already. */
export interface NodeRequest extends IncomingMessage {
  originalUrl?: string;
  body?: unknown;
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    // HTTP/2 has the parts of the address here.
    if (!name.startsWith(':')) headers.append(name, rawHeaders[i + 1] ?? '');
  }
  return headers;
}

function bodyOf(request: NodeRequest): { body?: ReadableStream | string; duplex?: 'half' } {
  if (request.method === 'GET' || request.method === 'HEAD') return {};
  const { body } = request;
  if (typeof body === 'string') return { body };
  if (typeof body === 'object' && body !== null) {
    return { body: Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body) };
  }
  return { body: Readable.toWeb(request) as unknown as ReadableStream, duplex: 'half' };
}

/** @throws TypeError for an address or a method that no browser sends */
function requestOf(request: NodeRequest): Request {
  const { method = 'GET', socket, headers } = request;
  const protocol = 'encrypted' in socket ? 'https' : 'http';
  const host = headers.host ?? headers[':authority'] ?? 'localhost';
  const url = new URL(`${protocol}://${host}${request.originalUrl ?? request.url ?? '/'}`);
  return new Request(url, { method, headers: headersOf(request), ...bodyOf(request) });
}

/** Resolves when more can be written; rejects when nobody reads any more, or nothing more is to be written. */
function drained(response: ServerResponse, ended: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => () => {
      response.off('drain', onDrain);
      response.off('close', onClose);
      done();
    };
    const onDrain = settle(resolve);
    const onClose = settle(() => reject(new Error('The connection is closed')));
    response.on('drain', onDrain);
    response.on('close', onClose);
    ended.catch(settle(() => reject(new Error('The stream has ended'))));
  });
}

async function pump(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const reader = body.getReader();
  // `read()` rejects with the same error. Once the page is closed, an error of its stream no longer matters.
  reader.closed.catch(() => undefined);
  response.once('close', () => void reader.cancel().catch(() => undefined));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!response.write(value)) await drained(response, reader.closed);
  }
}

async function serve(fetch: Fetch, request: NodeRequest, response: ServerResponse): Promise<void> {
  let asked: Request;
  try {
    asked = requestOf(request);
  } catch {
    response.writeHead(400).end();
    return;
  }
  const answer = await fetch(asked);
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) {
    if (name !== 'set-cookie') response.setHeader(name, value);
  }
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  if (answer.body === null || request.method === 'HEAD') {
    await answer.body?.cancel();
    response.end();
    return;
  }
  response.flushHeaders();
  try {
    await pump(answer.body, response);
    response.end();
  } catch {
    // The reader is gone or too slow: what it has is not all.
    response.destroy();
  }
}

/** @param next of Express and its kin: gets what the application's own `authorize` throws */
export function nodeListener(
  fetch: Fetch,
): (request: NodeRequest, response: ServerResponse, next?: (error: unknown) => void) => void {
  return (request, response, next) => {
    serve(fetch, request, response).catch((error: unknown) => {
      if (next !== undefined) next(error);
      else if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  };
}
