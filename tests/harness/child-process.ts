/**
 * A child process: a TypeScript script that talks in JSON lines, and can be killed at any point. The script's side of
 * the conversation is `in-child.ts`; a child that ends with its test is in `child.ts`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { bundled } from './bundled.ts';

/** What the two sides send each other. */
export type ChildMessage = Record<string, unknown>;

export interface ChildOptions {
  readonly args?: readonly string[];
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The command that runs it, in front of its own. */
  readonly under?: readonly string[];
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const NEXT_WITHIN_MS = 20_000;

export class TestChild {
  readonly pid: number;
  /** Everything the child has said so far. */
  readonly messages: ChildMessage[] = [];
  readonly exited: Promise<ChildExit>;
  readonly #process: ChildProcess;
  #read = 0;
  #hasEnded = false;
  #stderr = '';
  #onNews = new Set<() => void>();

  constructor(process: ChildProcess) {
    this.#process = process;
    this.pid = process.pid as number;
    process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    // A child that is killed takes its end of the pipe along.
    process.stdin?.on('error', () => {});
    const lines = createInterface({ input: process.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => {
      this.messages.push(JSON.parse(line) as ChildMessage);
      this.#tellNews();
    });
    // 'close' comes after the last line was read, 'exit' may come before.
    this.exited = new Promise((resolve) => {
      process.once('close', (code, signal) => {
        this.#hasEnded = true;
        this.#tellNews();
        resolve({ code, signal });
      });
    });
  }

  get stderr(): string {
    return this.#stderr;
  }

  send(message: ChildMessage): void {
    this.#process.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  /** The first message behind the one returned last that satisfies the predicate. */
  next(predicate: (message: ChildMessage) => boolean = () => true): Promise<ChildMessage> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        this.#onNews.delete(look);
        act();
      };
      const fail = (why: string) =>
        settle(() => reject(new Error(`${why}. It said ${JSON.stringify(this.messages)}\n${this.#stderr}`)));
      const look = () => {
        const index = this.messages.findIndex((message, at) => at >= this.#read && predicate(message));
        const message = this.messages[index];
        if (message !== undefined) {
          this.#read = index + 1;
          settle(() => resolve(message));
        } else if (this.#hasEnded) {
          fail(`Child ${this.pid} ended without the message awaited`);
        }
      };
      const timer = setTimeout(() => fail(`Child ${this.pid} kept silent`), NEXT_WITHIN_MS);
      this.#onNews.add(look);
      look();
    });
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#process.kill(signal);
  }

  #tellNews(): void {
    for (const look of this.#onNews) look();
  }
}

/** Starts a script. The caller ends it. */
export function startChild(scriptPath: string, options: ChildOptions = {}): TestChild {
  const { under = [], args: own = [] } = options;
  const [command = '', ...args] = [...under, process.execPath, bundled(scriptPath), ...own];
  const spawned = spawn(command, args, {
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  return new TestChild(spawned);
}
