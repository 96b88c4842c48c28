/**
 * What can be completed: the commands with their flags, read from the program itself.
 */
import type { Argument, Command, Option } from 'commander';

export interface Flag {
  /** `--url`, and a short form if it has one. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly Flag[];
  /** The values of its first argument, where they are known. */
  readonly choices: readonly string[];
}

function flagOf({ long, short, description, required, optional, argChoices }: Option): Flag {
  return {
    names: [long, short].flatMap((name) => name ?? []),
    description,
    takesValue: required || optional,
    choices: argChoices ?? [],
  };
}

const HELP: Flag = { names: ['--help', '-h'], description: 'display help', takesValue: false, choices: [] };

/** The commands of a program, in its order. */
export function completedCommands(program: Command): CompletedCommand[] {
  return program.commands.map((command) => {
    const [argument]: readonly Argument[] = command.registeredArguments;
    return {
      name: command.name(),
      description: command.description(),
      flags: [...command.options.map(flagOf), HELP],
      choices: argument?.argChoices ?? [],
    };
  });
}
