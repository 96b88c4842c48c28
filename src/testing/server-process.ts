/**
 * One run of a server program: its command line, its readiness, its signals, its end.
 *
 * A watcher process ends it when this process dies without a chance to clean up, as test workers do. `server.ts`
 * decides on ports, folders and restarts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOOPBACK } from '../embedded/free-port.ts';
import { waitForPing } from '../embedded/ping.ts';
import { RawConnection } from './raw-connection.ts';
import { majorVersion } from './server-binary.ts';

/** The parameters of a run. */
interface ServerRun {
  readonly binary: string;
  readonly port: number;
  readonly dir: string;
  /** Whether the watcher removes the folder when this process dies. */
  readonly isTemporary: boolean;
  readonly args: readonly string[];
}

/** Another process listens on the port. */
export class PortTakenError extends Error {}

const READY_WITHIN_MS = 10_000;
const LOG_CHARACTERS = 16_000;

async function commandLine(run: ServerRun): Promise<string[]> {
  const [first = '-', ...others] = run.args;
  const [file, args] = first.startsWith('-') ? [[], run.args] : [[first], others];
  const place = ['--port', String(run.port), '--bind', LOOPBACK, '--dir', run.dir, '--daemonize', 'no'];
  const memoryOnly = ['--save', '', '--appendonly', 'no'];
  const debug = (await majorVersion(run.binary)) >= 7 ? ['--enable-debug-command', 'yes'] : [];
  return [...file, ...place, ...memoryOnly, ...debug, ...args];
}

/**
 * A shell that waits for its stdin to end, which happens when this process ends in any way, and then kills the server.
 * It runs in a separate session, so that Ctrl-C does not reach it.
 */
function watchOver(pid: number, run: ServerRun): ChildProcess {
  const script = 'read -r _; kill -9 "$1"; [ -z "$2" ] || rm -rf -- "$2"';
  const watcher = spawn('/bin/sh', ['-c', script, 'watcher', String(pid), run.isTemporary ? run.dir : ''], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
  (watcher.stdin as Socket | null)?.unref();
  return watcher;
}

export class ServerProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #run: ServerRun;
  readonly #exited: Promise<unknown>;
  #log = '';

  private constructor(child: ChildProcess, run: ServerRun) {
    this.#child = child;
    this.#run = run;
    this.pid = child.pid as number;
    const watcher = watchOver(this.pid, run);
    this.#exited = once(child, 'exit').finally(() => watcher.kill('SIGKILL'));
    for (const output of [child.stdout, child.stderr]) {
      output?.on('data', (chunk: Buffer) => {
        this.#log = (this.#log + chunk.toString()).slice(-LOG_CHARACTERS);
      });
    }
  }

  /** Starts the program; resolves when this process, and no other, answers on its port. */
  static async start(run: ServerRun): Promise<ServerProcess> {
    const child = spawn(run.binary, await commandLine(run), { stdio: ['ignore', 'pipe', 'pipe'] });
    await once(child, 'spawn');
    const started = new ServerProcess(child, run);
    try {
      await started.#becomeReady();
    } catch (error) {
      await started.kill();
      throw error;
    }
    child.unref();
    for (const output of [child.stdout, child.stderr]) (output as Socket | null)?.unref();
    return started;
  }

  get log(): string {
    return this.#log;
  }

  get #isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  startAgain(extraArgs: readonly string[]): Promise<ServerProcess> {
    return ServerProcess.start({ ...this.#run, args: [...this.#run.args, ...extraArgs] });
  }

  async pause(): Promise<void> {
    this.#child.kill('SIGSTOP');
    // The signal returns before every thread has stopped, but a test relies on silence from here on.
    if (process.platform !== 'linux') return;
    while (this.#isAlive && !(await this.#stateLine()).includes('T (stopped)')) await sleep(1);
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    this.#child.ref();
    if (this.#isAlive) this.#child.kill('SIGKILL');
    await this.#exited;
  }

  async #stateLine(): Promise<string> {
    const status = await readFile(`/proc/${this.pid}/status`, 'utf8');
    return /^State:.*$/m.exec(status)?.[0] ?? '';
  }

  async #becomeReady(): Promise<void> {
    const ended = new AbortController();
    void this.#exited.then(() => ended.abort());
    try {
      await waitForPing(LOOPBACK, this.#run.port, READY_WITHIN_MS, ended.signal);
    } catch (error) {
      if (this.#isAlive) throw error;
      throw this.#startFailure();
    }
    // A server that lost its port to another one is about to end, and the other one answered PING.
    const answering = await askPid(this.#run.port);
    if (answering !== undefined && answering !== this.pid) {
      throw new PortTakenError(`Process ${answering} answers on port ${this.#run.port}`);
    }
  }

  #startFailure(): Error {
    const text = `${this.#run.binary} ended while starting: ${this.#log.trim()}`;
    return /Address already in use/i.test(this.#log) ? new PortTakenError(text) : new Error(text);
  }
}

/** The process ID that the server on a port reports; undefined if it requires a password first. */
async function askPid(port: number): Promise<number | undefined> {
  const connection = await RawConnection.connect(LOOPBACK, port);
  try {
    const info = await connection.command('INFO', 'server');
    const pid = /^process_id:(\d+)/m.exec(String(info))?.[1];
    return pid === undefined ? undefined : Number(pid);
  } catch {
    return undefined;
  } finally {
    await connection.close();
  }
}
