/**
 * `holdfast dashboard`: the page about all locks of a server, on its own.
 */
import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { createDashboard } from '../../dashboard/dashboard.ts';
import { acting } from '../command-action.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection.ts';
import { AuditLog } from '../dashboard/audit-log.ts';
import { isLoopback, listen } from '../dashboard/listen.ts';
import { addExamples } from '../examples.ts';
import { EXIT } from '../exit-codes.ts';
import { UsageError } from '../failure.ts';
import { patternOf } from '../names.ts';
import { printLines } from '../output.ts';
import { count } from '../values.ts';

interface DashboardFlags extends ConnectionFlags {
  readonly port: number;
  readonly host: string;
  readonly token?: string;
  readonly allowFree?: true;
  readonly auditLog?: string;
  readonly counters?: true;
  readonly title?: string;
  readonly maxCommands: number;
  readonly json?: true;
}

/** A fixed one, so that people can keep the address. */
const DEFAULT_PORT = 4665;

function port(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= 65_535) return number;
  throw new InvalidArgumentError('Expected a port from 0 to 65535.');
}

/** The token that was given, or a new one. An empty variable counts as one that is not set. */
function tokenOf({ token }: DashboardFlags): string {
  return token ?? (process.env['HOLDFAST_DASHBOARD_TOKEN'] || randomBytes(24).toString('base64url'));
}

/** Resolves at the first signal that asks a program to end. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

async function dashboard(pattern: string, flags: DashboardFlags): Promise<number> {
  const { host, keyPrefix, allowFree = false, auditLog, counters = false, title, json = false } = flags;
  if (auditLog !== undefined && !allowFree) throw new UsageError('--audit-log needs --allow-free');
  const token = tokenOf(flags);
  const ended = untilSignal();
  using log = auditLog === undefined ? undefined : new AuditLog(auditLog);
  await using client = await connect(flags);
  const served = createDashboard(client, {
    token,
    // A name that somebody made to point to this machine is not served.
    hosts: isLoopback(host) ? ['localhost', '127.0.0.1', '[::1]', hostInUrl(host)] : undefined,
    allowFree,
    audit: log === undefined ? undefined : (entry) => log.write(entry),
    title,
    pattern: patternOf(pattern, keyPrefix),
    counters,
    maxCommandsPerSecond: flags.maxCommands,
  });
  await using server = await listen(served.node, flags.port, host);
  if (!isLoopback(host)) {
    process.stderr.write(
      `holdfast dashboard: warning: the token and the page travel without TLS to ${host}: put a proxy with TLS in front\n`,
    );
  }
  const url = `http://${hostInUrl(host)}:${server.port}/`;
  const address = `${url}?token=${encodeURIComponent(token)}`;
  if (json) process.stdout.write(`${JSON.stringify({ url, address, token, allowFree })}\n`);
  else {
    printLines([
      `Dashboard: ${address}`,
      allowFree ? 'Locks can be freed there.' : 'Read-only: --allow-free lets people free locks there.',
      'Ctrl+C ends it.',
    ]);
  }
  await ended;
  served.close();
  return EXIT.ok;
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

export function defineDashboard(program: Command): void {
  const command = program
    .command('dashboard')
    .description('Serves a page with all locks, their holders and waiters, live')
    .argument('[pattern]', 'a glob: * any text, ? one character, [ab] one of these', '*')
    .option('--port <number>', 'where it listens; 0 for any free one', port, DEFAULT_PORT)
    .option('--host <host>', 'the address it listens on', '127.0.0.1')
    .option('--token <text>', 'what people must know (default: HOLDFAST_DASHBOARD_TOKEN, or a new one)')
    .option('--allow-free', 'people may free a holder there, after a confirmation')
    .option('--audit-log <file>', 'appends a line of JSON for every attempt to free a holder')
    .option('--counters', 'also whole numbers: semaphores without leases and latches, but your counters too')
    .option('--title <text>', 'the heading of the page')
    .option('--max-commands <n>', 'the most commands a second that it sends to look at locks', count, 1_000)
    .option('--json', 'one line with the address and the token')
    .addHelpText(
      'after',
      '\nPrints the address with a token; the page exchanges the token for a cookie. A token on the command line is seen' +
        '\nby other users of the machine: prefer the variable. Without TLS, do not listen on an address that others reach:' +
        '\nput a proxy with TLS in front, or use ssh -L. Without --audit-log, the entries go to stderr.',
    );
  addConnectionOptions(command);
  addExamples(command, [
    ['holdfast dashboard', 'all locks of the server in HOLDFAST_URL, read-only, on this machine only'],
    ["holdfast dashboard 'orders:*' --port 8080", 'some locks, on another port'],
    ['holdfast dashboard --allow-free --audit-log freed.jsonl', 'for people who may free locks'],
  ]);
  acting(command, dashboard);
}
