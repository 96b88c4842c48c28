import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { GUIDE, guide } from '../../../tools/build-cli-guide.ts';

describe('docs/guides/command-line.md', () => {
  it('is what the help of the commands gives: npm run build:cli-guide', () => {
    expect(readFileSync(GUIDE, 'utf8')).toBe(guide());
  });

  it('has a section for every command', () => {
    const names = createProgram('0.0.0').commands.map((command) => command.name());
    expect(names).toContain('run');
    for (const name of names) expect(guide()).toContain(`\n## holdfast ${name}\n`);
  });
});
