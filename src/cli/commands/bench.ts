/**
 * `holdfast bench`: how fast locks are on this server, in a few seconds. `npm run bench` in the repository compares
 * libraries; this measures a server of the user.
 */
import type { Command } from 'commander';
import { measureAll } from '../bench/measure.ts';
import { signsOfUse } from '../bench/production.ts';
import { acting } from '../command-action.ts';
import { addConnectionOptions, type ConnectionFlags, connect, targetOf } from '../connection.ts';
import { addExamples } from '../examples.ts';
import { EXIT } from '../exit-codes.ts';
import { UsageError } from '../failure.ts';
import { printJson, printLines } from '../output.ts';
import { columns } from '../render/columns.ts';
import { grouped } from '../render/style.ts';
import { Server } from '../server.ts';
import { count, positiveDuration } from '../values.ts';

interface BenchFlags extends ConnectionFlags {
  readonly time: number;
  readonly concurrency: number;
  readonly yes?: true;
  readonly json?: true;
}

/** @throws UsageError */
async function assertNotInUse(flags: BenchFlags): Promise<void> {
  await using server = await Server.connect(flags);
  const signs = await signsOfUse(targetOf(flags, process.env), server);
  if (signs.length === 0) return;
  throw new UsageError(
    `this server looks like one in use: ${signs.join('; ')}. Use --yes to load it all the same`,
  );
}

async function bench(flags: BenchFlags): Promise<number> {
  const { time, concurrency, yes = false, json = false } = flags;
  if (!yes) await assertNotInUse(flags);
  await using one = await connect(flags);
  await using other = await connect(flags);
  const measured = await measureAll([one, other], { forMs: Math.ceil(time / 3), concurrency });
  if (json) printJson(measured);
  else {
    const rows = measured.map(({ what, perSecond, p50Ms, p99Ms }) => {
      return [what, `${grouped(perSecond)}/s`, `${p50Ms.toFixed(2)} ms`, `${p99Ms.toFixed(2)} ms`];
    });
    printLines(columns(['LOCK AND UNLOCK', 'CYCLES', 'MEDIAN', '99 %'], rows));
  }
  return EXIT.ok;
}

export function defineBench(program: Command): void {
  const command = program
    .command('bench')
    .description('Measures how fast locks are on this server, in a few seconds')
    .option('--time <time>', 'how long in all', positiveDuration, 3_000)
    .option('--concurrency <n>', 'how many locks are taken at once', count, 50)
    .option('--yes', 'also on a server that looks like one in use')
    .option('--json', 'cycles for each second, and milliseconds')
    .addHelpText(
      'after',
      `\nRefuses, with exit code ${EXIT.badInput}, a server that is not on this machine, has more than 1,000 keys, replicas or` +
        '\nother clients, or may not be asked, unless told --yes. Uses random names, and leaves no lock behind.',
    );
  command.options.find(({ long }) => long === '--time')?.default(3_000, '3s');
  addConnectionOptions(command);
  addExamples(command, [
    ['holdfast bench', 'a server on this machine'],
    ['holdfast bench --url redis://staging.internal:6379 --yes --time 10s', 'another, on purpose'],
  ]);
  acting(command, bench);
}
