/**
 * What a path asks for. A dashboard does not know below which path it is mounted, and frameworks pass the whole path on
 * or only its end: the end decides.
 */

/** The calls of the page. */
const API = ['api/stream', 'api/lock', 'api/free'] as const;

export type ApiCall = (typeof API)[number];

/** Where a request goes. */
export interface Place {
  readonly url: URL;
  /** The path up to its last slash, with one at the end: what the addresses of the page are relative to. */
  readonly folder: string;
  /** What follows the last slash. */
  readonly last: string;
  readonly api: ApiCall | undefined;
}

export function placeOf(url: URL): Place {
  const { pathname } = url;
  const slash = pathname.lastIndexOf('/');
  const last = pathname.slice(slash + 1);
  const api = API.find((call) => pathname.endsWith(`/${call}`));
  // `/locks` is about to become `/locks/`.
  const folder = last === '' || last.includes('.') ? pathname.slice(0, slash + 1) : `${pathname}/`;
  return { url, folder, last, api };
}

/** Whether this is the page itself, with or without its last slash. */
export function isPage({ last, api }: Place): boolean {
  return api === undefined && !last.includes('.');
}

/** The address of the page relative to this place, without some parameters. */
export function locationOf({ last, url }: Place, without: readonly string[] = []): string {
  const parameters = new URLSearchParams(url.searchParams);
  for (const name of without) parameters.delete(name);
  const search = parameters.size === 0 ? '' : `?${parameters}`;
  return `./${last === '' ? '' : `${last}/`}${search}`;
}
