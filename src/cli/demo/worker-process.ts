/**
 * The parent's side of a worker process: orders, reports, freezing and killing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { programArguments } from '../../child-programs.ts';
import type { Order, Report } from './orders.ts';

type Kind = Report['is'];
type ReportOf<K extends Kind> = Extract<Report, { is: K }>;

const STDERR_CHARACTERS = 2_000;

function spawnWorker(): ChildProcess {
  return spawn(process.execPath, programArguments('cli/demo/worker-child'), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #listeners = new Set<(report: Report) => void>();
  readonly #failed: Promise<never>;
  readonly exited: Promise<void>;
  #stderr = '';

  constructor() {
    this.#child = spawnWorker();
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.once('error', () => resolve());
    });
    this.#failed = new Promise((_resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', (code, signal) => {
        reject(new Error(`A worker process ended (${signal ?? code}). ${this.#stderr}`.trim()));
      });
      this.onReport('failed', ({ why }) => reject(new Error(`A worker process failed: ${why}`)));
    });
    // `next()` passes the failure on. After an intended kill no call waits for it.
    this.#failed.catch(() => {});
    this.#child.on('message', (report: Report) => {
      for (const listener of this.#listeners) listener(report);
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_CHARACTERS);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  tell(order: Order): void {
    // `next()` rejects if the worker is gone.
    this.#child.send(order, () => {});
  }

  onReport<K extends Kind>(kind: K, listener: (report: ReportOf<K>) => void): () => void {
    const heard = (report: Report) => {
      if (report.is === kind) listener(report as ReportOf<K>);
    };
    this.#listeners.add(heard);
    return () => this.#listeners.delete(heard);
  }

  /** The next report of a kind. Rejects when the worker fails or ends first. */
  next<K extends Kind>(kind: K): Promise<ReportOf<K>> {
    let forget = () => {};
    const heard = new Promise<ReportOf<K>>((resolve) => {
      forget = this.onReport(kind, resolve);
    });
    const first = Promise.race([heard, this.#failed]).finally(forget);
    // A scene that is stopped before it awaits this leaves the rejection unhandled.
    first.catch(() => {});
    return first;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  /** Kills the process, frozen or not; resolves when it has ended. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }
}
