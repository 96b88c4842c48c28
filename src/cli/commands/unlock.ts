/**
 * `holdfast unlock --force`: frees one holder of a lock, and no other.
 *
 * The holder is read, shown, and freed by its owner field. If another owner takes the lock while the person thinks, that
 * owner keeps it.
 */
import type { Command } from 'commander';
import type { Description } from '../../inspect/description.ts';
import { freeHolder } from '../../inspect/free-holder.ts';
import { holdersOf, permitsOf } from '../../inspect/reading.ts';
import { acting } from '../command-action.ts';
import { assertConfirmable, confirm } from '../confirm.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection.ts';
import { addExamples } from '../examples.ts';
import { EXIT } from '../exit-codes.ts';
import { UsageError } from '../failure.ts';
import { printJson } from '../output.ts';
import { details } from '../render/details.ts';
import { printable } from '../render/printable.ts';
import { primitiveName } from '../values.ts';

interface UnlockFlags extends ConnectionFlags {
  readonly force?: true;
  readonly owner?: string;
  readonly yes?: true;
  readonly json?: true;
}

/** The owner fields and permit ids that can be freed. A writer that also reads is freed by its first field. */
function ownersOf(found: Description): string[] {
  const isWritten = found.kind === 'readWrite' && found.mode === 'write';
  const fields = holdersOf(found).map(({ owner }) => owner);
  const writer = fields.find((field) => field.endsWith(':write'));
  const holders = isWritten && writer !== undefined ? [writer] : fields;
  return [...holders, ...permitsOf(found).map(({ id }) => id)];
}

function chosen(name: string, found: Description, asked: string | undefined): string {
  const owners = ownersOf(found);
  if (asked !== undefined) {
    if (!owners.includes(asked)) throw new UsageError(`${asked} does not hold "${name}"`);
    return asked;
  }
  const [owner = '', ...others] = owners;
  if (others.length > 0) {
    throw new UsageError(
      `"${name}" has ${owners.length} holders; choose one with --owner: ${owners.join(', ')}`,
    );
  }
  return owner;
}

async function unlock(name: string, flags: UnlockFlags): Promise<number> {
  const { force = false, yes = false, json = false } = flags;
  if (!force) throw new UsageError('a lock belongs to its holder; --force frees it all the same');
  assertConfirmable(yes, 'unlock --force');
  await using client = await connect(flags);
  const found = await client.inspect(name);
  const result = (owner: string | null, freed: boolean, text: string) => {
    if (json) printJson({ name, owner, freed });
    else process.stdout.write(`${printable(text)}\n`);
    return freed || owner === null ? EXIT.ok : EXIT.failed;
  };
  if (ownersOf(found).length === 0) return result(null, false, `"${name}" is not held.`);
  process.stderr.write(`${details(name, found).join('\n')}\n`);
  const owner = chosen(name, found, flags.owner);
  const question = `Free "${name}" from ${owner}? Its holder may still be at work.`;
  if (!yes && !(await confirm(printable(question)))) return result(owner, false, 'Nothing was freed.');
  const isFreed = await freeHolder(client, name, owner);
  const text = isFreed
    ? `Freed "${name}" from ${owner}.`
    : `Nothing was freed: ${owner} no longer holds "${name}".`;
  return result(owner, isFreed, text);
}

export function defineUnlock(program: Command): void {
  const command = program
    .command('unlock')
    .description('Frees a lock or permit from one holder, after asking')
    .argument('<name>', 'the name, without the key prefix', primitiveName)
    .option('--force', 'required: the holder is not asked, and may still be at work')
    .option('--owner <owner>', 'which holder, or which permit id, where there are several')
    .option('--yes', 'do not ask; required without a terminal')
    .option('--json', 'what was done: name, owner, freed')
    .addHelpText(
      'after',
      '\nShows whom the lock belongs to, and frees only that holder: an owner that takes the lock meanwhile keeps it.' +
        '\nThe former holder learns of it at its next renewal, within a third of its lease.',
    );
  addConnectionOptions(command);
  addExamples(command, [
    ['holdfast unlock nightly-report --force', 'shows the holder, asks, frees it'],
    [
      'holdfast unlock desks --force --yes --owner 9f0c3a…',
      'gives one permit of a semaphore back, from a script',
    ],
  ]);
  acting(command, unlock);
}
