/** The command line, before it runs anything. */
import { describe, expect, it } from 'vitest';
import { runCli } from './support/run-demo.ts';

describe('the command line', () => {
  it('answers an unknown command with the help, and exits with 1', async () => {
    const { code, stdout, stderr } = await runCli(['dance']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: unknown command 'dance'$/m);
    expect(stderr).toMatch(/^Usage: holdfast \[options\] \[command\]$/m);
  });

  it('explains itself', async () => {
    const general = await runCli(['--help']);
    expect(general).toMatchObject({ code: 0, stderr: '' });
    expect(general.stdout).toMatch(/^ {2}demo \[options\]/m);
    const ofDemo = await runCli(['demo', '--help']);
    expect(ofDemo).toMatchObject({ code: 0, stderr: '' });
    expect(ofDemo.stdout).toMatch(/^ {2}--url <url>/m);
    expect(ofDemo.stdout).toContain('REDIS_URL');
  });
});
