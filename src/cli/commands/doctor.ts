/**
 * `holdfast doctor`: is this server fit for locks?
 */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { SystemClock } from '../../clock.ts';
import { Guard } from '../../requests/guard.ts';
import { acting } from '../command-action.ts';
import { addConnectionOptions, type ConnectionFlags, connect, targetOf } from '../connection.ts';
import type { Check } from '../doctor/check.ts';
import { checkFitness } from '../doctor/fitness.ts';
import { checkPermissions } from '../doctor/permissions.ts';
import { measureRoundTrip } from '../doctor/round-trip.ts';
import { addExamples } from '../examples.ts';
import { EXIT } from '../exit-codes.ts';
import { failureOf, messageOf } from '../failure.ts';
import { printJson, printLines } from '../output.ts';
import { printable } from '../render/printable.ts';
import { type Paint, padded, painter } from '../render/style.ts';
import { Server } from '../server.ts';

interface DoctorFlags extends ConnectionFlags {
  readonly namePrefix: string;
  readonly guard?: true;
  readonly json?: true;
}

const MARKS = { ok: ['green', '✓'], warning: ['yellow', '!'], error: ['red', '✗'] } as const;
const ABOUT_WIDTH = 12;
const SENTENCES = {
  fit: 'fit for locks',
  warnings: 'fit for locks, with warnings',
  unfit: 'not fit for locks',
} as const;

function lines({ about, status, message, code, remedy }: Check, paint: Paint): string[] {
  const [colour, mark] = MARKS[status];
  const coded = code === undefined ? '' : ` (${code})`;
  const indent = ' '.repeat(ABOUT_WIDTH + 5);
  return [
    `  ${paint(colour, mark)} ${padded(about, ABOUT_WIDTH)} ${printable(message)}${coded}`,
    ...(remedy === undefined ? [] : [`${indent}${paint('dim', `→ ${printable(remedy)}`)}`]),
  ];
}

/** The part of a check that cannot be made is a result too. */
async function tried(about: string, check: () => Promise<Check | Check[]>, remedy: string): Promise<Check[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    return [{ about, status: 'error', message: messageOf(error), remedy }];
  }
}

function userOf(flags: ConnectionFlags): string {
  const target = targetOf(flags, process.env);
  const named = 'username' in target ? target.username : undefined;
  const url = 'url' in target && target.url !== undefined ? new URL(target.url).username : '';
  return named ?? (decodeURIComponent(url) || 'default');
}

/** With two clients, because a lock is waited for by another one. */
async function examine(flags: DoctorFlags): Promise<Check[]> {
  const { keyPrefix = '', namePrefix, guard: isGuarded = false } = flags;
  await using client = await connect(flags, { guard: isGuarded });
  await using other = await connect(flags);
  await using server = await Server.connect(flags);
  const { driver } = server;
  const guard = isGuarded ? new Guard({ clock: new SystemClock(), graceMs: 0, driver }) : undefined;
  const trial = { prefix: keyPrefix + namePrefix, guard };
  return [
    ...(await tried('server', () => checkFitness(client), 'see the message')),
    ...(await tried('permissions', () => checkPermissions(driver, trial, userOf(flags)), 'see the message')),
    ...(await tried(
      'round trip',
      () => measureRoundTrip(client, other, namePrefix + randomUUID()),
      'see the permissions above, or use a --name-prefix that the keys of this user allow',
    )),
  ];
}

function verdictOf(checks: readonly Check[]): keyof typeof SENTENCES {
  if (checks.some(({ status }) => status === 'error')) return 'unfit';
  return checks.some(({ status }) => status === 'warning') ? 'warnings' : 'fit';
}

async function doctor(flags: DoctorFlags): Promise<number> {
  const { json = false } = flags;
  let checks: Check[];
  try {
    checks = await examine(flags);
  } catch (error) {
    if (failureOf(error).exitCode === EXIT.badInput) throw error;
    const remedy =
      'check the address, the password, and that the server runs, is a primary, and is not too old';
    checks = [{ about: 'connection', status: 'error', message: messageOf(error), remedy }];
  }
  const verdict = verdictOf(checks);
  if (json) printJson({ verdict, checks });
  else {
    const paint = painter(process.stdout);
    const colour = verdict === 'unfit' ? 'red' : verdict === 'fit' ? 'green' : 'yellow';
    const last = `  This server is ${paint(colour, SENTENCES[verdict])}.`;
    printLines([...checks.flatMap((check) => lines(check, paint)), last]);
  }
  return verdict === 'unfit' ? EXIT.failed : EXIT.ok;
}

export function defineDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description('Checks whether a server is fit for locks, and says what to change')
    .option('--name-prefix <text>', 'what the names of the trial start with', 'holdfast-doctor:')
    .option('--guard', 'your clients use the guard: examine what it needs too')
    .option('--json', 'the verdict, and every check with its remedy')
    .addHelpText(
      'after',
      '\nLooks at version, role, eviction, persistence, replication, clocks and permissions, and measures how long a' +
        '\nwaiter takes to get a released lock. Takes a lock of a random name, and leaves no lock behind. Exits with 1 if' +
        '\nlocks would not be granted or not be kept; warnings do not count.',
    );
  addConnectionOptions(command);
  addExamples(command, [
    ['holdfast doctor --url redis://cache.internal:6379', 'everything about this server'],
    ['holdfast doctor --username shop --name-prefix orders:', 'as the user of the application'],
  ]);
  acting(command, doctor);
}
