/** A dashboard of a test's own, with a client of its own, ended with the test. */
import { onTestFinished } from 'vitest';
import { type Dashboard, type DashboardParts, makeDashboard } from '../../../src/dashboard/dashboard.ts';
import type { DashboardOptions } from '../../../src/dashboard/options.ts';
import { type ClientOptions, Holdfast, type Target } from '../../../src/index.ts';
import { EventReader } from './event-reader.ts';
import { testPage } from './page-folder.ts';

export const TOKEN = 'a-token-that-nobody-guesses';
export const BASE = 'http://127.0.0.1:4665/';

export async function connect(target: string | Target, options?: ClientOptions): Promise<Holdfast> {
  const client = await Holdfast.connect(target, options);
  onTestFinished(() => client.close());
  return client;
}

/** With the token of tests, and what else is given. */
export async function ownDashboard(
  client: Holdfast,
  options: DashboardOptions = {},
  parts: DashboardParts = {},
): Promise<Dashboard> {
  const isProtected = options.authorize !== undefined || options.unprotected === true;
  const dashboard = makeDashboard(
    client,
    { ...(isProtected ? {} : { token: TOKEN }), ...options },
    { page: await testPage(), ...parts, limits: { flushMs: 50, ...parts.limits } },
  );
  onTestFinished(() => dashboard.close());
  return dashboard;
}

/** A request of somebody who knows the token. */
export function asked(path: string, init: RequestInit = {}): Request {
  const headers = new Headers(init.headers);
  if (!headers.has('authorization')) headers.set('authorization', `Bearer ${TOKEN}`);
  return new Request(new URL(path, BASE), { ...init, headers });
}

/** Opens the stream as a page does. */
export async function watch(dashboard: Dashboard): Promise<EventReader> {
  const reader = new EventReader(await dashboard.fetch(asked('api/stream')));
  onTestFinished(() => reader.close());
  return reader;
}
