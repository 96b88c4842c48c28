/**
 * Completion for zsh.
 */
import type { CompletedCommand, Flag } from './tree.ts';

/** Inside single quotes, where brackets and colons have a meaning for `_arguments`. */
function quoted(text: string): string {
  return text.replace(/[[\]:\\]/g, '\\$&').replaceAll("'", `'\\''`);
}

function flagSpecs({ names, description, takesValue, choices }: Flag): string[] {
  const values = choices.length > 0 ? `:value:(${choices.join(' ')})` : ':value:_files';
  return names.map((name) => `'*${name}[${quoted(description)}]${takesValue ? values : ''}'`);
}

function commandCase({ name, flags, choices }: CompletedCommand): string[] {
  const first = choices.length > 0 ? `'1:argument:(${choices.join(' ')})'` : "'*:: :_normal'";
  const specs = [...flags.flatMap(flagSpecs), first];
  return [`    ${name})`, `      _arguments ${specs.join(' \\\n        ')}`, '      ;;'];
}

export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return [
    '#compdef holdfast',
    '# zsh completion for holdfast: source <(holdfast completion zsh)',
    '_holdfast() {',
    '  local -a commands',
    '  commands=(',
    ...commands.map(({ name, description }) => `    '${name}:${quoted(description)}'`),
    '  )',
    '  if ((CURRENT == 2)); then',
    "    _describe 'command' commands",
    '    return',
    '  fi',
    '  local command=$words[2]',
    '  shift words',
    '  ((CURRENT--))',
    '  case $command in',
    ...commands.flatMap(commandCase),
    '  esac',
    '}',
    'compdef _holdfast holdfast',
    '',
  ].join('\n');
}
