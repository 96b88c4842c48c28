import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';

const program = createProgram('0.0.0');

/** As a person reads it, with what is added below the flags. */
function helpOf(command: Command): string {
  const written: string[] = [];
  command.configureOutput({ writeOut: (text) => written.push(text) }).outputHelp();
  return written.join('');
}

describe('the help', () => {
  it('of holdfast itself has examples', () => {
    expect(helpOf(program)).toMatch(/^Examples:\n {2}holdfast /m);
  });

  it.each(program.commands.map((command) => [command.name(), command] as const))(
    'of %s has examples, and --json where there is data',
    (name, command) => {
      const help = helpOf(command);
      expect(help).toMatch(new RegExp(`^Examples:\\n {2}.*holdfast ${name}`, 'm'));
      if (name === 'completion') expect(help).not.toContain('--json');
      else expect(help).toMatch(/^ {2}--json /m);
    },
  );
});
