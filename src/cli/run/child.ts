/**
 * The command under the lock: a child process with our stdin, stdout and stderr.
 *
 * Without a terminal the child gets a process group, so that signals reach the processes it starts too. At a terminal it
 * stays in ours: only then can it read from the terminal, and Ctrl-C reaches it from there.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { messageOf } from '../failure.ts';

/** The terminal sends these to a child at the terminal by itself. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

export class CommandChild {
  /** The exit code: the child's, 128 + n after signal n, or 126 and 127 if it could not be started. */
  readonly exited: Promise<number>;
  readonly #process: ChildProcess;
  readonly #isGroup: boolean;
  #isOver = false;

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#isGroup = process.stdin.isTTY !== true && process.platform !== 'win32';
    this.#process = spawn(command, args, {
      stdio: 'inherit',
      env: { ...process.env, ...env },
      detached: this.#isGroup,
    });
    this.exited = new Promise((resolve) => {
      this.#process.once('error', (error: NodeJS.ErrnoException) => {
        this.#isOver = true;
        process.stderr.write(`holdfast run: ${messageOf(error)}\n`);
        resolve(error.code === 'ENOENT' ? EXIT.notFound : EXIT.cannotExecute);
      });
      this.#process.once('exit', (code, signal) => {
        this.#isOver = true;
        resolve(signal === null ? (code ?? EXIT.failed) : exitCodeOf(signal));
      });
    });
  }

  /** Passes on a signal that we got. */
  passOn(signal: NodeJS.Signals): void {
    if (this.#isGroup || !FROM_TERMINAL.includes(signal)) this.signal(signal);
  }

  /** Sends the signal to the child and, where it has a group, to what the child started. */
  signal(signal: NodeJS.Signals): void {
    const { pid } = this.#process;
    if (this.#isOver || pid === undefined) return;
    if (!this.#isGroup) {
      this.#process.kill(signal);
      return;
    }
    try {
      process.kill(-pid, signal);
    } catch {
      // The group has ended.
    }
  }

  /** The child has ended, but what it started may go on: the group is told to end as well. */
  endGroup(): void {
    const { pid } = this.#process;
    if (!this.#isGroup || pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Nothing is left of it.
    }
  }
}
