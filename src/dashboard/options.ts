/**
 * The options of a dashboard, and their checks.
 */
import { OptionError } from '../errors.ts';
import { checkBy } from '../options/checks.ts';
import { boolean, callback, integer, label, show, text } from '../options/value-checks.ts';
import type { AuditEntry } from './protocol.ts';

/** Who asks: the user of the application, null to refuse, or an answer such as a redirect to the login. */
export type Authorisation = { readonly user: string } | Response | null | undefined | false;

/** How a dashboard behaves. One of `authorize`, `token` and `unprotected` is required. */
export interface DashboardOptions {
  /** The application's own authentication, asked at every request. */
  authorize?: ((request: Request) => Authorisation | Promise<Authorisation>) | undefined;
  /**
   * What a person must know: at least 16 characters. It is given once as `?token=`, which sets a cookie, or in the header
   * `Authorization: Bearer`.
   */
  token?: string | undefined;
  /** Everybody who reaches it may look, and may free locks with `allowFree`. Default: false. */
  unprotected?: boolean | undefined;
  /**
   * The host names by which browsers reach it; requests for others are refused. Default: any, and with `unprotected`
   * those of the same machine only.
   */
  hosts?: readonly string[] | undefined;
  /** Shows the button that frees a holder. Default: false. */
  allowFree?: boolean | undefined;
  /**
   * Gets every attempt to free a holder: its intent before anything is freed, and its outcome before the person gets the
   * answer. If it throws at the intent, nothing is freed. Default: a line of JSON on stderr.
   */
  audit?: ((entry: AuditEntry) => void | Promise<void>) | undefined;
  /** The heading of the page. Default: `holdfast`. */
  title?: string | undefined;
  /** The locks to show, by a glob pattern as for `client.list`. Default: `*`. */
  pattern?: string | undefined;
  /** Shows whole numbers too: semaphores without leases and latches, but also any counter of yours. Default: false. */
  counters?: boolean | undefined;
  /** The most commands a second that looking at locks may send to the server. Default: 1 000. */
  maxCommandsPerSecond?: number | undefined;
}

/** How requests are admitted. */
export type Protection =
  | { readonly by: 'authorize'; readonly authorize: NonNullable<DashboardOptions['authorize']> }
  | { readonly by: 'token'; readonly token: string }
  | { readonly by: 'nothing' };

/** The options with their defaults. */
export interface DashboardSettings {
  readonly protection: Protection;
  /** Undefined where any host name counts. */
  readonly hosts: readonly string[] | undefined;
  readonly allowFree: boolean;
  readonly audit: (entry: AuditEntry) => void | Promise<void>;
  readonly title: string;
  readonly pattern: string;
  readonly counters: boolean;
  readonly maxCommandsPerSecond: number;
}

const DEFAULTS = {
  unprotected: false,
  allowFree: false,
  audit: auditToStderr,
  title: 'holdfast',
  pattern: '*',
  counters: false,
  maxCommandsPerSecond: 1_000,
} as const;

/** The names of the same machine. */
const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

const SHORTEST_TOKEN = 16;

const CHECKS = {
  authorize: callback<NonNullable<DashboardOptions['authorize']>>,
  token,
  unprotected: boolean,
  hosts,
  allowFree: boolean,
  audit: callback<NonNullable<DashboardOptions['audit']>>,
  title: label,
  pattern: text,
  counters: boolean,
  maxCommandsPerSecond: integer(10, 1_000_000),
};

function auditToStderr(entry: AuditEntry): void {
  process.stderr.write(`holdfast dashboard: ${JSON.stringify(entry)}\n`);
}

/** The message does not show it: a token that is too short is a secret all the same. */
function token(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length >= SHORTEST_TOKEN && /^[\x21-\x7e]+$/.test(value))
    return value;
  throw new OptionError(
    `${what} must have at least ${SHORTEST_TOKEN} printable ASCII characters, without spaces`,
  );
}

function hosts(value: unknown, what: string): readonly string[] {
  if (Array.isArray(value) && value.length > 0 && value.every(isHost)) {
    return value.map((host: string) => host.toLowerCase());
  }
  throw new OptionError(`${what} must be a list of host names without ports, not ${show(value)}`);
}

function isHost(value: unknown): boolean {
  return typeof value === 'string' && /^(?:[\w.-]+|\[[0-9a-f:.]+\])$/i.test(value);
}

function protectionOf({ authorize, token: secret, unprotected = false }: DashboardOptions): Protection {
  const given = { authorize, token: secret, unprotected: unprotected || undefined };
  const names = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (names.length > 1) throw new OptionError(`${names.join(' and ')} exclude each other`);
  if (authorize !== undefined) return { by: 'authorize', authorize };
  if (secret !== undefined) return { by: 'token', token: secret };
  if (unprotected) return { by: 'nothing' };
  throw new OptionError(
    'A dashboard shows who works on what: give it authorize(request), which asks your own authentication, or a token. ' +
      'Without either, say unprotected: true',
  );
}

/**
 * Checks the options and fills in the defaults.
 *
 * @throws OptionError
 */
export function checkDashboardOptions(given: unknown): DashboardSettings {
  const checked = checkBy(CHECKS, given);
  const protection = protectionOf(checked);
  const { allowFree, audit, title, pattern, counters, maxCommandsPerSecond } = { ...DEFAULTS, ...checked };
  return {
    protection,
    hosts: checked.hosts ?? (protection.by === 'nothing' ? LOOPBACK_HOSTS : undefined),
    allowFree,
    audit,
    title,
    pattern,
    counters,
    maxCommandsPerSecond,
  };
}
