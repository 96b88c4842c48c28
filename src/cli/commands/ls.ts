/**
 * `holdfast ls`: every lock and synchronizer whose name matches, with its holder.
 */
import type { Command } from 'commander';
import { acting } from '../command-action.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection.ts';
import { addExamples } from '../examples.ts';
import { EXIT } from '../exit-codes.ts';
import { named, nameOf, patternOf } from '../names.ts';
import { printJson, printLines } from '../output.ts';
import { columns } from '../render/columns.ts';
import { LISTING_HEADER, listingRow } from '../render/listing.ts';

interface LsFlags extends ConnectionFlags {
  readonly counters?: true;
  readonly json?: true;
}

async function ls(pattern: string, flags: LsFlags): Promise<number> {
  const { keyPrefix, counters = false, json = false } = flags;
  await using client = await connect(flags);
  const found = await client.list(patternOf(pattern, keyPrefix), { counters });
  if (json) {
    printJson(found.map((one) => named(one, keyPrefix)));
    return EXIT.ok;
  }
  if (found.length === 0) {
    // Not on stdout: a program that counts lines counts locks.
    process.stderr.write('No lock matches.\n');
    return EXIT.ok;
  }
  const now = new Date();
  const rows = found.map((one) => listingRow(nameOf(one.key, keyPrefix) ?? one.key, one, now));
  printLines(columns(LISTING_HEADER, rows));
  return EXIT.ok;
}

export function defineLs(program: Command): void {
  const command = program
    .command('ls')
    .description('Lists locks and synchronizers with their holders, those of Java too')
    .argument('[pattern]', 'a glob: * any text, ? one character, [ab] one of these', '*')
    .option('--counters', 'also whole numbers: semaphores without leases and latches, but your counters too')
    .option('--json', 'an array of descriptions');
  addConnectionOptions(command);
  addExamples(command, [
    ['holdfast ls', 'all locks of the server in HOLDFAST_URL'],
    ["holdfast ls 'invoice:*' --url redis://cache.internal:6379", 'those whose name starts with invoice:'],
    [
      'holdfast ls --json | jq -r ".[] | select(.kind == \\"fair\\") | .name"',
      'the names of contended fair locks',
    ],
  ]);
  acting(command, ls);
}
