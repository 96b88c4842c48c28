/**
 * `holdfast completion`: what a shell needs to complete commands and flags, generated from the program.
 */
import { Argument, type Command } from 'commander';
import { acting } from '../command-action.ts';
import { bashCompletion } from '../completion/bash.ts';
import { fishCompletion } from '../completion/fish.ts';
import { completedCommands } from '../completion/tree.ts';
import { zshCompletion } from '../completion/zsh.ts';
import { addExamples } from '../examples.ts';
import { EXIT } from '../exit-codes.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

export function defineCompletion(program: Command): void {
  const command = program
    .command('completion')
    .description('Prints the completion of commands and flags for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)));
  addExamples(command, [
    ['source <(holdfast completion bash)', 'in ~/.bashrc'],
    ['source <(holdfast completion zsh)', 'in ~/.zshrc, after compinit'],
    ['holdfast completion fish | source', 'in ~/.config/fish/config.fish'],
  ]);
  acting(command, (shell: keyof typeof SHELLS) => {
    process.stdout.write(SHELLS[shell](completedCommands(program)));
    return EXIT.ok;
  });
}
