/**
 * Answers, each with the headers that keep a browser from doing more than the page needs.
 */
import type { Refusal } from '../protocol.ts';

/** No script but the page's own, nothing from elsewhere, and no frame around it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

type Body = ConstructorParameters<typeof Response>[0];

/** Any answer; given headers replace those that every answer has. */
export function answer(status: number, body: Body, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(body ?? null, { status, headers: { ...SAFE_HEADERS, ...headers } });
}

export function text(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return answer(status, `${message}\n`, { 'content-type': 'text/plain; charset=utf-8', ...headers });
}

export function json(status: number, value: object): Response {
  return answer(status, JSON.stringify(value), { 'content-type': 'application/json; charset=utf-8' });
}

export function refusal(status: number, error: string): Response {
  return json(status, { error } satisfies Refusal);
}

/** Elsewhere below the same path: the address is relative, since a proxy may serve another one. */
export function redirect(location: string, headers: Readonly<Record<string, string>> = {}): Response {
  return answer(303, null, { location, ...headers });
}
