/**
 * Completion for fish.
 */
import type { CompletedCommand, Flag } from './tree.ts';

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}

function flagLine(command: string, { names, description, takesValue, choices }: Flag): string {
  const forms = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : '';
  const when = quoted(`__fish_seen_subcommand_from ${command}`);
  return `complete -c holdfast -n ${when} ${forms.join(' ')}${value} -d ${quoted(description)}`;
}

export function fishCompletion(commands: readonly CompletedCommand[]): string {
  return [
    '# fish completion for holdfast: holdfast completion fish | source',
    ...commands.flatMap(({ name, description, flags, choices }) => [
      `complete -c holdfast -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
      ...(choices.length === 0
        ? []
        : [
            `complete -c holdfast -n ${quoted(`__fish_seen_subcommand_from ${name}`)} -f -a ${quoted(choices.join(' '))}`,
          ]),
      ...flags.map((flag) => flagLine(name, flag)),
    ]),
    '',
  ].join('\n');
}
