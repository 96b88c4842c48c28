/**
 * Where a request comes from, as the browser says: another site must not use the session of a person, and a host name
 * that somebody made to point here must not be served.
 */
import { isSecret } from './access.ts';
import { refusal, text } from './responses.ts';

/** The host without its port, as a browser writes it. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

/** The host that the browser asks for. */
function hostOf(request: Request, url: URL): string {
  return request.headers.get('host') ?? url.host;
}

/** The answer to a request for a host name that is not served; undefined if it is. */
export function refuseHost(
  request: Request,
  url: URL,
  hosts: readonly string[] | undefined,
): Response | undefined {
  if (hosts === undefined || hosts.includes(nameOf(hostOf(request, url)))) return undefined;
  return text(403, 'This host name is not served here');
}

/** The answer to a call that another site makes; undefined if the page makes it. */
export function refuseSite(request: Request): Response | undefined {
  const site = request.headers.get('sec-fetch-site');
  // `none`: a person typed the address.
  if (site === null || site === 'same-origin' || (site === 'none' && request.method === 'GET'))
    return undefined;
  return refusal(403, 'Another site made this request');
}

/** The answer to a forged request to change something; undefined if the page of this session sent it. */
export function refuseForged(request: Request, url: URL, csrf: string): Response | undefined {
  if (!isSameOrigin(request, url)) return refusal(403, 'Another site made this request');
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type)) return refusal(415, 'Expected application/json');
  const given = request.headers.get('x-holdfast-csrf') ?? '';
  if (!isSecret(given, csrf)) return refusal(403, 'The page is out of date: load it again');
  return undefined;
}

/** A proxy may have replaced the host; then the browser's own word counts, which no site can forge. */
function isSameOrigin(request: Request, url: URL): boolean {
  const origin = request.headers.get('origin');
  if (origin === null || request.headers.get('sec-fetch-site') === 'same-origin') return true;
  const host = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
  return host?.toLowerCase() === hostOf(request, url).toLowerCase();
}
