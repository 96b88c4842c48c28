/**
 * Decides who may look: admits a request, or answers it.
 *
 * A session is what a browser proves with each request. With a token it is a cookie that only somebody who knew the token
 * could have got; with the application's authentication it is the user. The token against forged requests belongs to the
 * session.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Protection } from '../options.ts';
import { redirect, text } from './responses.ts';
import { isPage, locationOf, type Place } from './routes.ts';

export interface Session {
  /** Who it is, as the application says. */
  readonly user: string | null;
  /** What a request that changes something must carry. */
  readonly csrf: string;
}

export interface Access {
  /** The session of a request, or the answer to one that is not admitted. */
  admit(request: Request, place: Place): Promise<Session | Response> | Session | Response;
}

/** Takes as long whatever the given text is. */
export function isSecret(given: string, secret: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

function sign(key: Buffer | string, message: string): string {
  return createHmac('sha256', key).update(message).digest('base64url');
}

function unauthorised(headers: Readonly<Record<string, string>> = {}): Response {
  return text(401, 'Unauthorized', headers);
}

/** A browser that knows the token gets a cookie for it, and an address without it. */
class TokenAccess implements Access {
  readonly #token: string;
  /** Cookies do not know ports: two dashboards of one host need two names. */
  readonly #cookie: string;

  constructor(token: string) {
    this.#token = token;
    this.#cookie = `holdfast_dashboard_${createHash('sha256').update(token).digest('hex').slice(0, 8)}`;
  }

  admit(request: Request, place: Place): Session | Response {
    const given = place.url.searchParams.get('token');
    if (given !== null && request.method === 'GET' && isPage(place)) {
      return isSecret(given, this.#token) ? this.#login(place) : unauthorised();
    }
    const [, bearer] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
    if (bearer !== undefined) return isSecret(bearer, this.#token) ? this.#session('bearer') : unauthorised();
    const session = this.#sessionIn(request.headers.get('cookie') ?? '');
    return session === undefined ? unauthorised({ 'www-authenticate': 'Bearer' }) : this.#session(session);
  }

  #login(place: Place): Response {
    const session = randomBytes(16).toString('base64url');
    const location = locationOf(place, ['token']);
    const isSecure = place.url.protocol === 'https:';
    const cookie = [
      `${this.#cookie}=${session}.${sign(this.#token, `session ${session}`)}`,
      `Path=${place.folder}`,
      'HttpOnly',
      'SameSite=Strict',
      ...(isSecure ? ['Secure'] : []),
    ].join('; ');
    return redirect(location, { 'set-cookie': cookie });
  }

  #sessionIn(cookies: string): string | undefined {
    for (const cookie of cookies.split(/; */)) {
      const [name, value = ''] = cookie.split('=', 2);
      if (name !== this.#cookie) continue;
      const [session = '', signature = ''] = value.split('.', 2);
      if (isSecret(signature, sign(this.#token, `session ${session}`))) return session;
    }
    return undefined;
  }

  #session(session: string): Session {
    return { user: null, csrf: sign(this.#token, `csrf ${session}`) };
  }
}

/** The application knows who it is. */
class ApplicationAccess implements Access {
  readonly #authorize: Extract<Protection, { by: 'authorize' }>['authorize'];
  readonly #key = randomBytes(32);

  constructor(authorize: Extract<Protection, { by: 'authorize' }>['authorize']) {
    this.#authorize = authorize;
  }

  async admit(request: Request): Promise<Session | Response> {
    const found = await this.#authorize(request);
    if (found === null || found === undefined || found === false) return unauthorised();
    // A framework may bring a Response of its own.
    if ('headers' in found && 'status' in found) return found;
    if (typeof found.user !== 'string') {
      throw new TypeError('authorize must answer { user } with a string, a Response, or null');
    }
    return { user: found.user, csrf: sign(this.#key, `csrf ${found.user}`) };
  }
}

/** Everybody; the token against forged requests is all the same. */
class OpenAccess implements Access {
  readonly #session: Session = { user: null, csrf: randomBytes(32).toString('base64url') };

  admit(): Session {
    return this.#session;
  }
}

export function accessBy(protection: Protection): Access {
  switch (protection.by) {
    case 'authorize':
      return new ApplicationAccess(protection.authorize);
    case 'token':
      return new TokenAccess(protection.token);
    case 'nothing':
      return new OpenAccess();
  }
}
