/** The command line of `npm run chaos`. */
import { Command, InvalidArgumentError } from 'commander';

export interface RunOptions {
  readonly seed: string;
  readonly cell?: string;
  readonly quick: boolean;
  readonly soakMs: number;
  readonly out: string;
  readonly processes: number;
  readonly workers: number;
  readonly list: boolean;
  readonly keep: boolean;
  readonly url?: string;
  readonly touch?: string;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

function duration(text: string): number {
  const [, count, unit] = /^(\d+)([smh])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) throw new InvalidArgumentError('Write 90s, 30m or 8h.');
  return Number(count) * (UNITS[unit] as number);
}

function positive(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new InvalidArgumentError('Write a whole number of at least 1.');
  return count;
}

const EXAMPLES = `
Examples:
  npm run chaos                                  every storm, then the mutants and the model: about twelve minutes
  npm run chaos -- --quick                       a few storms, the mutants and the model: under four minutes
  npm run chaos -- --soak 30m                    mixed storms until the time is over
  npm run chaos -- --list                        the names of all storms
  npm run chaos -- --seed 7 --cell one/guarded/holder-killed
                                                 replays the storms whose names contain this
  npm run chaos -- --url redis://127.0.0.1:6379  storms on your server: faults hit clients and links, not the server
`;

export function parseOptions(argv: readonly string[]): RunOptions {
  const command = new Command('npm run chaos --')
    .description(
      'Uses every lock while faults are injected, records what callers observe, and checks the histories.',
    )
    .option('--seed <text>', 'the seed of the plan', String(Date.now() % 1_000_000))
    .option('--cell <text>', 'only storms whose names contain this')
    .option('--quick', 'a short run, as on CI', false)
    .option('--soak <time>', 'mixed storms for this long: 90s, 30m, 8h', duration, 0)
    .option('--out <folder>', 'the folder for the report', '.cache/chaos')
    .option('--processes <n>', 'worker processes', positive, 4)
    .option('--workers <n>', 'workers in each process', positive, 4)
    .option('--keep', 'keeps the history of every storm, not only of those that broke a promise', false)
    .option('--list', 'lists the names of the storms and exits', false)
    .option('--url <url>', 'your server to run the storms on')
    .option(
      '--touch <host>',
      'the host in --url: confirms that the storms may use it although it is remote or has data',
    )
    .addHelpText('after', EXAMPLES);
  command.parse([...argv], { from: 'user' });
  const { soak, ...options } = command.opts();
  return { ...options, soakMs: soak } as RunOptions;
}
