/**
 * Completion for bash.
 */
import type { CompletedCommand, Flag } from './tree.ts';

function words(flags: readonly Flag[]): string {
  return flags.flatMap(({ names }) => names).join(' ');
}

/** The cases for flags whose values are known, and for those that take any. */
function valueCases({ name, flags }: CompletedCommand): string[] {
  return flags
    .filter(({ takesValue }) => takesValue)
    .map(({ names, choices }) => {
      const reply =
        choices.length > 0
          ? `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$word"))`
          : 'COMPREPLY=($(compgen -f -- "$word"))';
      return `    ${names.map((flag) => `${name}:${flag}`).join(' | ')}) ${reply}; return ;;`;
    });
}

export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  return [
    '# bash completion for holdfast: source <(holdfast completion bash)',
    '_holdfast() {',
    `  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]} i`,
    '  COMPREPLY=()',
    '  if ((COMP_CWORD == 1)); then',
    `    COMPREPLY=($(compgen -W '${names} --help --version' -- "$word"))`,
    '    return',
    '  fi',
    '  # Behind -- another command begins.',
    '  for ((i = 2; i < COMP_CWORD; i++)); do',
    `    if [[ \${COMP_WORDS[i]} == -- ]]; then`,
    '      COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))',
    '      return',
    '    fi',
    '  done',
    '  case $command:$before in',
    ...commands.flatMap(valueCases),
    '  esac',
    '  case $command in',
    ...commands.map(({ name, flags, choices }) => {
      const all = [...choices, words(flags)].join(' ');
      return `    ${name}) COMPREPLY=($(compgen -W '${all}' -- "$word")) ;;`;
    }),
    '  esac',
    '}',
    'complete -F _holdfast holdfast',
    '',
  ].join('\n');
}
