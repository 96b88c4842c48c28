#!/usr/bin/env node
/**
 * The command line: `holdfast <command>`. `program.ts` has the commands.
 */
import { createRequire } from 'node:module';
import { fail } from './command-action.ts';
import { createProgram } from './program.ts';
import { tellWarnings } from './warnings.ts';

function readVersion(): string {
  return (createRequire(import.meta.url)('holdfast/package.json') as { version: string }).version;
}

// The reader of a pipe may close it early, as `head` does.
process.stdout.on('error', () => process.exit(1));
tellWarnings();

const program = createProgram(readVersion());
try {
  // Without a command there is nothing wrong: the reader wants to know what there is.
  await program.parseAsync(process.argv.length > 2 ? process.argv : [...process.argv, '--help']);
} catch (error) {
  const [word = ''] = process.argv.slice(2);
  const isCommand = program.commands.some((command) => command.name() === word);
  fail(isCommand ? `holdfast ${word}` : 'holdfast', error);
}
