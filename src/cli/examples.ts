/**
 * Examples below the help of a command, each with what it does.
 */
import type { Command } from 'commander';

export type Example = readonly [command: string, meaning: string];

/** Adds examples to the help, after the flags and any notes. */
export function addExamples(command: Command, examples: readonly Example[]): Command {
  const lines = examples.map(([line, meaning]) => `  ${line}\n      ${meaning}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
