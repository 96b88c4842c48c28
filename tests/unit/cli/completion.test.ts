import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { bashCompletion } from '../../../src/cli/completion/bash.ts';
import { fishCompletion } from '../../../src/cli/completion/fish.ts';
import { completedCommands } from '../../../src/cli/completion/tree.ts';
import { zshCompletion } from '../../../src/cli/completion/zsh.ts';
import { createProgram } from '../../../src/cli/program.ts';

const program = createProgram('0.0.0');
const commands = completedCommands(program);

/** What bash offers for these words, the last of which is being typed. */
function offered(...words: string[]): string[] {
  const script = `${bashCompletion(commands)}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
}

describe('completion', () => {
  it('knows every command and every flag of the program', () => {
    for (const text of [bashCompletion(commands), zshCompletion(commands)]) {
      for (const command of program.commands) {
        expect(text).toContain(command.name());
        for (const { long } of command.options) expect(text).toContain(long);
      }
    }
    for (const { name, flags } of commands) {
      for (const { names } of flags) {
        expect(fishCompletion(commands)).toContain(`from ${name}' -l ${names[0]?.slice(2)}`);
      }
    }
  });

  it('offers commands, flags and values in bash', () => {
    expect(offered('holdfast', 'un')).toEqual(['unlock']);
    expect(offered('holdfast', 'run', 'x', '--wa')).toEqual(['--wait', '--watchdog']);
    expect(offered('holdfast', 'watch', '--sort', 'w')).toEqual(['waiters']);
    expect(offered('holdfast', 'completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
    expect(offered('holdfast', 'run', 'x', '--', 'tru')).toContain('true');
  });
});
