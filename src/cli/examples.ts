/**
 * Examples below the help of a command, each with what it does.
 */
import type { Command } from 'commander';

export type Example = readonly [command: string, meaning: string];

const byCommand = new WeakMap<Command, readonly Example[]>();

/** The examples of a command. */
export function examplesOf(command: Command): readonly Example[] {
  return byCommand.get(command) ?? [];
}

/** Adds examples to the help, after an empty line and any notes. */
export function addExamples(command: Command, examples: readonly Example[]): Command {
  byCommand.set(command, examples);
  const lines = examples.map(([line, meaning]) => `  ${line}\n      ${meaning}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
