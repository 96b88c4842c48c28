/** The command line, before it runs anything. */
import { describe, expect, it } from 'vitest';
import { runCli } from './support/cli.ts';

/** Bad input, and the line that answers it. */
const BAD_INPUT: readonly (readonly [args: string[], line: string])[] = [
  [['dance'], "holdfast: unknown command 'dance'"],
  [['--dance'], "holdfast: unknown option '--dance'"],
  [['ls', '--dance'], "holdfast ls: unknown option '--dance'"],
  [['inspect'], "holdfast inspect: missing required argument 'name'"],
  ...['inspect', 'unlock', 'run'].map((command): [string[], string] => [
    [command, ''],
    `holdfast ${command}: command-argument value '' is invalid for argument 'name'. Expected a name that is not empty.`,
  ]),
  [
    ['ls', '--url', 'http://127.0.0.1'],
    'holdfast ls: The url starts with http://; expected redis:// or rediss://',
  ],
  [['ls', '--url', 'redis://a', '--cluster', 'b:1'], 'holdfast ls: --url and --cluster exclude each other'],
  [['ls', '--sentinel', 'a:26379'], 'holdfast ls: --sentinel needs --sentinel-name'],
  [
    ['ls', '--sentinel', 'a:b'],
    "holdfast ls: option '--sentinel <host:port>' argument 'a:b' is invalid. Expected host:port.",
  ],
  [
    ['ls', '--tls-ca', '/nowhere.pem'],
    "holdfast ls: --tls-ca: ENOENT: no such file or directory, open '/nowhere.pem'",
  ],
];

describe('the command line', () => {
  it.each(BAD_INPUT)('answers %j with one line, and exits with 2', async (args, line) => {
    expect(await runCli(args)).toEqual({ code: 2, stdout: '', stderr: `${line}\n` });
  });

  it('says in one line that the server cannot be reached, without the password, and exits with 1', async () => {
    expect(await runCli(['ls'], { HOLDFAST_URL: 'redis://me:secret@127.0.0.1:1' })).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^holdfast ls: Cannot connect to 127\.0\.0\.1:1: connect ECONNREFUSED .*\n$/,
      ),
    });
  });

  it('explains itself', async () => {
    const general = await runCli(['--help']);
    expect(general).toMatchObject({ code: 0, stderr: '' });
    expect(general.stdout).toMatch(/^ {2}demo \[options\]/m);
    expect(await runCli([])).toEqual(general);
    const ofDemo = await runCli(['demo', '--help']);
    expect(ofDemo).toMatchObject({ code: 0, stderr: '' });
    expect(ofDemo.stdout).toMatch(/^ {2}--url <url>/m);
    expect(ofDemo.stdout).toContain('REDIS_URL');
    const ofLs = await runCli(['ls', '--help']);
    expect(ofLs.stdout).toMatch(/^Examples:\n {2}holdfast ls$/m);
  });
});
