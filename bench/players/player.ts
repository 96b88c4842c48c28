/**
 * A measured process, as the bench sees it: takes one order at a time and answers it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Order } from './protocol.ts';

interface Pending {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export class Player {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;
  #pending: Pending | undefined;
  #stderr = '';

  private constructor(child: ChildProcess) {
    this.pid = child.pid as number;
    this.#child = child;
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const pending = this.#pending;
      this.#pending = undefined;
      pending?.resolve(JSON.parse(line));
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-2_000);
    });
    // A process that is killed takes its end of the pipe along.
    child.stdin?.on('error', () => {});
    this.#gone = once(child, 'close').then(() => this.#pending?.reject(this.#ended()));
  }

  /** Starts a program and resolves when it is connected to the server. */
  static async start(program: string, args: readonly string[]): Promise<Player> {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    await once(child, 'spawn');
    const player = new Player(child);
    await player.#answer();
    return player;
  }

  order<Answer>(order: Order): Promise<Answer> {
    const answer = this.#answer();
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
    return answer as Promise<Answer>;
  }

  async kill(): Promise<void> {
    this.#pending = undefined;
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  #answer(): Promise<unknown> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      return Promise.reject(this.#ended());
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
    });
  }

  #ended(): Error {
    return new Error(`The measured process has ended. ${this.#stderr}`);
  }
}
