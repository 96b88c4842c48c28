/** Runs the command line from source as a person would, in pipes. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { bundled } from '../../harness/bundled.ts';

const BIN = fileURLToPath(new URL('../../../src/cli/bin.ts', import.meta.url));

export type Environment = Readonly<Record<string, string>>;

/** The program and its arguments, for whatever starts it. */
export function cliCommand(args: readonly string[]): string[] {
  return [process.execPath, bundled(BIN), ...args];
}

/** The environment of the tests without what would lead the command line elsewhere. */
export function cliEnvironment(env: Environment): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:HOLDFAST_|REDIS_URL$|NO_COLOR$|FORCE_COLOR$|NODE_OPTIONS$|CI$)/.test(name),
  );
  return { ...(Object.fromEntries(inherited) as Record<string, string>), ...env };
}

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run under way. */
export class RunningCli {
  readonly ended: Promise<Run>;
  readonly pid: number;
  readonly #process: ReturnType<typeof spawn>;
  #stdout = '';
  #stderr = '';

  constructor(args: readonly string[], env: Environment = {}) {
    const [program = '', ...rest] = cliCommand(args);
    this.#process = spawn(program, rest, { env: cliEnvironment(env), stdio: ['ignore', 'pipe', 'pipe'] });
    this.pid = this.#process.pid ?? 0;
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      this.#stdout += chunk.toString();
    });
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    this.ended = new Promise((resolve) => {
      this.#process.once('close', (code) => resolve({ code, stdout: this.#stdout, stderr: this.#stderr }));
    });
    onTestFinished(async () => {
      this.#process.kill('SIGKILL');
      // What a command under a lock started may live on with the pipes.
      this.#process.stdout?.destroy();
      this.#process.stderr?.destroy();
      await this.ended;
    });
  }

  /** What it has printed so far. */
  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }
}

/** Runs a command to its end. */
export function runCli(args: readonly string[], env: Environment = {}): Promise<Run> {
  return new RunningCli(args, env).ended;
}
