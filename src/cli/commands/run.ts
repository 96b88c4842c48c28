/**
 * `holdfast run`: runs a command under a lock, as `flock` does, across machines.
 */
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { deadlineOf } from '../../runtime/lease-deadline.ts';
import { acting } from '../command-action.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection.ts';
import { addExamples } from '../examples.ts';
import { EXIT } from '../exit-codes.ts';
import { UsageError } from '../failure.ts';
import { printable } from '../render/printable.ts';
import { teller } from '../run/messages.ts';
import { OnceMarker } from '../run/once.ts';
import { planRetreat } from '../run/retreat.ts';
import { type RunPlan, runCommand } from '../run/run-command.ts';
import { Server } from '../server.ts';
import { count, duration, patience, positiveDuration, primitiveName, requiredReplicas } from '../values.ts';
import { showWarnings } from '../warnings.ts';

interface RunFlags extends ConnectionFlags {
  readonly wait: number;
  readonly lease?: number;
  readonly grace?: number;
  readonly fair?: true;
  readonly permits?: number;
  readonly once?: string;
  readonly onceTtl?: number;
  readonly label?: string;
  readonly watchdog?: number;
  readonly replicas?: number | 'auto' | 'majority';
  readonly guard?: true | number;
  readonly json?: true;
}

const DEFAULT_WATCHDOG_MS = 30_000;
const DEFAULT_GUARD_MS = 30_000;
const LONGEST_LABEL = 200;

function checkFlags(command: string | undefined, flags: RunFlags): asserts command is string {
  if (command === undefined || command === '') {
    throw new UsageError('missing command: holdfast run <name> -- command args');
  }
  if (flags.fair && flags.permits !== undefined)
    throw new UsageError('--fair and --permits exclude each other');
  if (flags.onceTtl !== undefined && flags.once === undefined)
    throw new UsageError('--once-ttl needs --once');
  if (flags.once !== undefined && flags.permits !== undefined)
    throw new UsageError('--once and --permits exclude each other: each permit would run the command');
  if (flags.once === '') throw new UsageError('--once needs a key');
}

/** How long a fresh hold can be relied on. */
function reliableMs({ lease, watchdog = DEFAULT_WATCHDOG_MS, guard }: RunFlags): number {
  const graceMs = guard === undefined ? Number.POSITIVE_INFINITY : guard === true ? DEFAULT_GUARD_MS : guard;
  return deadlineOf(0, Math.min(lease ?? watchdog, graceMs));
}

async function run(name: string, [command, ...args]: readonly string[], flags: RunFlags): Promise<number> {
  checkFlags(command, flags);
  const { wait, lease, fair, permits, keyPrefix = '', watchdog, replicas, guard, json = false } = flags;
  const retreat = planRetreat(reliableMs(flags), flags.grace);
  const label = flags.label ?? printable(`${hostname()}:${process.pid} ${command}`).slice(0, LONGEST_LABEL);
  showWarnings();
  await using client = await connect(flags, {
    label,
    ...(watchdog !== undefined && { watchdogMs: watchdog }),
    ...(replicas !== undefined && { replicas }),
    ...(guard !== undefined && { guard: guard === true ? true : { graceMs: guard } }),
  });
  await using server = flags.once === undefined ? undefined : await Server.connect(flags);
  const plan: RunPlan = {
    name,
    command,
    args,
    request: { fair, permits, leaseMs: lease, waitMs: wait },
    retreat,
    label,
    ...(server !== undefined &&
      flags.once !== undefined && {
        once: {
          name: flags.once,
          marker: new OnceMarker(server, keyPrefix + name, flags.once),
          keepMs: flags.onceTtl,
        },
      }),
  };
  // Awaited here: the client closes when this block ends.
  return await runCommand(
    client,
    plan,
    teller(json, (line) => process.stderr.write(line)),
  );
}

const NOTES = `
Without --lease, the lock is renewed while the command runs. If the renewals fail, the command gets TERM, and KILL
after the grace, all before the lock can be another owner's. If the lock is lost without notice, because it was freed
by force or deleted, the command gets KILL at once. Both exit with ${EXIT.lost}. A lock that is not free within --wait
exits with ${EXIT.timedOut}. Otherwise the exit code is that of the command, and 128 + n if signal n ended it.

The command finds the name in HOLDFAST_NAME, the owner field (with --permits, the permit id) in HOLDFAST_OWNER, and
the fencing token in HOLDFAST_TOKEN (not with --fair or --permits): a store that refuses lower tokens than it has seen
is safe even if this process was stopped while the command went on. INT, QUIT, TERM, HUP, USR1 and USR2 are passed on.
Without a terminal, signals also reach the processes that the command started.`;

export function defineRun(program: Command): void {
  const command = program
    .command('run')
    .description('Runs a command while holding a lock, and ends it if the lock is lost')
    .argument('<name>', 'the name of the lock', primitiveName)
    .argument('[command...]', 'the command and its arguments, after --')
    .option(
      '--wait <time>',
      'how long to wait for the lock: a time, 0 or forever',
      patience,
      Number.POSITIVE_INFINITY,
    )
    .option(
      '--lease <time>',
      'hold the lock for at most this time, and end the command then',
      positiveDuration,
    )
    .option(
      '--grace <time>',
      'from TERM to KILL when the lock is lost (default: 5s, less in a short lease)',
      duration,
    )
    .option('--fair', 'first come, first served, across machines')
    .option('--permits <n>', 'a semaphore: so many commands may run at once', count)
    .option('--once <key>', 'run the command only if none has succeeded yet under this lock and key')
    .option('--once-ttl <time>', 'forget the success after this time (default: never)', positiveDuration)
    .option('--label <text>', 'who holds it, for people (default: host:pid and the command)')
    .option(
      '--watchdog <time>',
      'the lease that is renewed: how long a crash keeps the lock (default: 30s)',
      positiveDuration,
    )
    .option('--replicas <n>', 'replicas that must acknowledge: a number, auto or majority', requiredReplicas)
    .option(
      '--guard [time]',
      'keep the lock through failovers, with this grace (default: 30s)',
      positiveDuration,
    )
    .option('--json', 'what happens as one JSON object for each line, on stderr')
    .addHelpText('after', NOTES);
  // Shown instead of the number.
  command.options.find(({ long }) => long === '--wait')?.default(Number.POSITIVE_INFINITY, 'forever');
  addConnectionOptions(command);
  addExamples(command, [
    ['holdfast run nightly-report -- ./report.sh', 'waits for the lock, on whatever machine it is held'],
    ['holdfast run backup --wait 0 -- pg_dump shop', `exits with ${EXIT.timedOut} if another backup runs`],
    ['holdfast run migrate --once v42 -- npm run migrate', 'every machine calls it, one of them migrates'],
    ['holdfast run video --permits 3 -- ffmpeg -i in.mov out.mp4', 'at most three at once'],
    [
      'holdfast run ledger -- sh -c \'curl -H "Fencing-Token: $HOLDFAST_TOKEN" https://ledger.example/close\'',
      'with the token, by which the receiver refuses a late holder',
    ],
  ]);
  acting(command, run);
}
