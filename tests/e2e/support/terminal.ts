/**
 * The command line at a terminal: a pseudo-terminal of `script`, from util-linux. Debian and Ubuntu have it in an
 * essential package, so that CI has it; where it is missing, tests are skipped by name.
 */
import { spawn, spawnSync } from 'node:child_process';
import { describe, onTestFinished } from 'vitest';
import { cliCommand, cliEnvironment, type Environment } from './cli.ts';

/** Other systems have a `script` that takes other flags. */
const hasScript = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');

/** `describe` for tests that need a terminal. */
export function describeAtTerminal(name: string, define: () => void): void {
  if (hasScript) describe(name, define);
  else describe.skip(`${name} [needs script of util-linux]`, define);
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/** A run at a terminal. */
export class Terminal {
  readonly ended: Promise<number | null>;
  readonly #process: ReturnType<typeof spawn>;
  #output = '';

  /** @param after a shell command that runs when the command line has ended, at the same terminal */
  constructor(args: readonly string[], env: Environment = {}, after = '') {
    const command = `stty cols 100 rows 30; ${cliCommand(args).map(quoted).join(' ')}; code=$?; ${after || ':'}; exit $code`;
    this.#process = spawn('script', ['-qefc', command, '/dev/null'], {
      env: cliEnvironment({ TERM: 'xterm-256color', SHELL: '/bin/sh', ...env }),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      this.#output += chunk.toString();
    });
    this.ended = new Promise((resolve) => this.#process.once('close', resolve));
    onTestFinished(async () => {
      this.#process.kill('SIGKILL');
      this.#process.stdout?.destroy();
      await this.ended;
    });
  }

  /** Everything that was written to the terminal, with its control characters. */
  get output(): string {
    return this.#output;
  }

  /** Types on the keyboard. */
  type(keys: string): void {
    this.#process.stdin?.write(keys);
  }
}
