/**
 * Answers the requests of the page: checks who asks first, and nothing else before.
 */
import type { ServerResponse } from 'node:http';
import type { Holdfast } from '../client.ts';
import { OptionError } from '../errors.ts';
import { Board } from './board.ts';
import { answerFree } from './free.ts';
import { type Access, accessBy, type Session } from './http/access.ts';
import { EventStream, type StreamLimits } from './http/event-stream.ts';
import { type NodeRequest, nodeListener } from './http/node-adapter.ts';
import { refuseForged, refuseHost, refuseSite } from './http/origin.ts';
import { PageFiles } from './http/page-files.ts';
import { answer, json, redirect, refusal, text } from './http/responses.ts';
import { isPage, locationOf, type Place, placeOf } from './http/routes.ts';
import { LocksByKey } from './locks-by-key.ts';
import { checkDashboardOptions, type DashboardOptions, type DashboardSettings } from './options.ts';

/** A page about the locks of a client, to be mounted in an application or served on its own. */
export interface Dashboard {
  /** Answers a request: for Hono, Next.js, SvelteKit, Bun and Deno. Rejects only with what `authorize` or `audit` throws. */
  fetch(this: void, request: Request): Promise<Response>;
  /** The same for `node:http`, Express, Nest and Fastify. */
  node(this: void, request: NodeRequest, response: ServerResponse, next?: (error: unknown) => void): void;
  /** Ends all streams and stops looking at the server. The client stays open. */
  close(this: void): void;
}

/** What tests change. */
export interface DashboardParts {
  readonly page?: PageFiles;
  readonly limits?: Partial<StreamLimits & { readonly streams: number }>;
}

/** Far more than people who look, and few enough for any server. */
const LIMITS = { flushMs: 500, stalledMs: 30_000, streams: 100 };

export class DashboardServer {
  readonly #settings: DashboardSettings;
  readonly #access: Access;
  /** Read when somebody asks for it. */
  #page: PageFiles | undefined;
  readonly #board: Board;
  readonly #locks: LocksByKey;
  readonly #limits: typeof LIMITS;
  readonly #streams = new Set<EventStream>();
  #isClosed = false;

  constructor(client: Holdfast, settings: DashboardSettings, { page, limits }: DashboardParts = {}) {
    this.#settings = settings;
    this.#access = accessBy(settings.protection);
    this.#page = page;
    this.#limits = { ...LIMITS, ...limits };
    this.#locks = new LocksByKey(client.wiring);
    this.#board = new Board(client, settings);
  }

  async answer(request: Request): Promise<Response> {
    const found = await this.#answer(request);
    return request.method === 'HEAD' ? new Response(null, found) : found;
  }

  async #answer(request: Request): Promise<Response> {
    const place = placeOf(new URL(request.url));
    const refusedHost = refuseHost(request, place.url, this.#settings.hosts);
    if (refusedHost !== undefined) return refusedHost;
    const admitted = await this.#access.admit(request, place);
    if (!('csrf' in admitted)) return admitted;
    if (this.#isClosed) return text(503, 'This dashboard is closed');
    return this.#route(request, place, admitted);
  }

  close(): void {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.end();
    this.#board.close();
  }

  #route(request: Request, place: Place, session: Session): Response | Promise<Response> {
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    if (place.api === 'api/free') {
      if (request.method !== 'POST') return text(405, 'Method Not Allowed', { allow: 'POST' });
      return this.#free(request, place, session);
    }
    if (!isReading) return text(405, 'Method Not Allowed', { allow: 'GET, HEAD' });
    if (place.api === undefined) return this.#file(place);
    const refused = refuseSite(request);
    if (refused !== undefined) return refused;
    if (place.api === 'api/stream') return this.#stream(request, session);
    const name = place.url.searchParams.get('name');
    return name === null ? refusal(400, 'Expected ?name=') : json(200, this.#board.page(name));
  }

  #file(place: Place): Response {
    // The addresses in the page are relative to its folder.
    if (isPage(place) && place.last !== '') return redirect(locationOf(place));
    try {
      this.#page ??= new PageFiles();
    } catch (error) {
      return text(503, (error as Error).message);
    }
    if (isPage(place)) return this.#page.index();
    return this.#page.file(place.url.pathname) ?? text(404, 'Not Found');
  }

  #stream(request: Request, { csrf }: Session): Response {
    const headers = {
      'content-type': 'text/event-stream; charset=utf-8',
      // Compressing would keep an event until there is enough to compress.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    };
    if (request.method === 'HEAD') return answer(200, null, headers);
    if (this.#streams.size >= this.#limits.streams) {
      return text(503, 'Too many pages are open', { 'retry-after': '10' });
    }
    const { allowFree } = this.#settings;
    const stream = new EventStream(this.#board, allowFree ? csrf : null, this.#limits, (ended) => {
      this.#streams.delete(ended);
    });
    this.#streams.add(stream);
    request.signal.addEventListener('abort', () => stream.end(), { once: true });
    return answer(200, stream.body, headers);
  }

  #free(request: Request, place: Place, { csrf, user }: Session): Response | Promise<Response> {
    const { allowFree, audit } = this.#settings;
    const refused = refuseSite(request) ?? refuseForged(request, place.url, csrf);
    if (refused !== undefined) return refused;
    if (!allowFree) return refusal(403, 'This dashboard is read-only');
    return answerFree({ board: this.#board, locks: this.#locks, audit }, request, user);
  }
}

function assertClient(client: unknown): asserts client is Holdfast {
  if (typeof client === 'object' && client !== null && 'wiring' in client) return;
  throw new OptionError('createDashboard needs a client of holdfast as its first argument');
}

/** As `createDashboard`, with parts that tests change. */
export function makeDashboard(
  client: Holdfast,
  options: DashboardOptions,
  parts?: DashboardParts,
): Dashboard {
  assertClient(client);
  const server = new DashboardServer(client, checkDashboardOptions(options), parts);
  const fetch = (request: Request) => server.answer(request);
  return { fetch, node: nodeListener(fetch), close: () => server.close() };
}

/**
 * A page about all locks and counters of a client's servers: who holds, since when, who waits, and what happened in the
 * last hour. Read-only unless `allowFree` is given.
 *
 * @example
 * ```ts
 * import { createDashboard } from 'holdfast/dashboard';
 *
 * const dashboard = createDashboard(client, { token: 'correct-horse-battery-staple' });
 * const answer = await dashboard.fetch(new Request('http://127.0.0.1/locks/'));
 * console.log(answer.status); // 401
 * dashboard.close();
 * ```
 *
 * @throws OptionError
 */
export function createDashboard(client: Holdfast, options: DashboardOptions): Dashboard {
  return makeDashboard(client, options);
}
