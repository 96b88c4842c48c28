/**
 * `holdfast inspect`: everything that Redis knows of one name.
 */
import { type Command, Option } from 'commander';
import type { InspectOptions } from '../../inspect/description.ts';
import { acting } from '../command-action.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection.ts';
import { addExamples } from '../examples.ts';
import { EXIT } from '../exit-codes.ts';
import { named } from '../names.ts';
import { printJson, printLines } from '../output.ts';
import { details } from '../render/details.ts';
import { primitiveName } from '../values.ts';

interface InspectFlags extends ConnectionFlags {
  readonly as?: InspectOptions['as'];
  readonly json?: true;
}

async function inspect(name: string, flags: InspectFlags): Promise<number> {
  const { as, keyPrefix, json = false } = flags;
  await using client = await connect(flags);
  const found = await client.inspect(name, { as });
  if (json) printJson(named(found, keyPrefix));
  else printLines(details(name, found));
  return EXIT.ok;
}

export function defineInspect(program: Command): void {
  const kinds = ['semaphore', 'permitSemaphore', 'latch'];
  const command = program
    .command('inspect')
    .description('Shows one lock or synchronizer: holders, leases, waiters in order, permits, the last token')
    .argument('<name>', 'the name, without the key prefix', primitiveName)
    .addOption(new Option('--as <kind>', 'what a whole number is: Redis cannot tell').choices(kinds))
    .option('--json', 'one description');
  addConnectionOptions(command);
  addExamples(command, [
    ['holdfast inspect invoice:42', 'who holds this lock, and for how much longer'],
    ['holdfast inspect desks --as semaphore', 'how many permits are free'],
  ]);
  acting(command, inspect);
}
