/**
 * Real server processes for tests: started on a free port, paused, killed, restarted.
 *
 * Data is in a temporary folder; nothing is persisted unless the arguments say so. `server-process.ts` starts and
 * watches the process.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, LOOPBACK } from '../embedded/free-port.ts';
import { RawConnection } from './raw-connection.ts';
import type { RawArgument, RawReply } from './resp.ts';
import { findServerBinary } from './server-binary.ts';
import { PortTakenError, ServerProcess } from './server-process.ts';

/** The options of `startServer`. */
export interface TestServerOptions {
  /** Further arguments; they override the defaults. A first one without dashes is a configuration file. */
  readonly args?: readonly string[];
  /** The port on 127.0.0.1. By default a free one is chosen. */
  readonly port?: number;
  /** The program to run. By default the one that `findServerBinary` finds. */
  readonly binary?: string;
  /** The working folder, kept at the end. By default a temporary one, removed at the end. */
  readonly dir?: string;
}

/** A private server process of a test. */
export interface TestServer extends AsyncDisposable {
  readonly kind: 'process';
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Changes with `restart`. */
  readonly pid: number;
  /** The working folder: where an AOF or RDB file would be. */
  readonly dir: string;
  /** The end of the server's log. */
  readonly log: string;
  /** Freezes the process (SIGSTOP); resolves when it has stopped. Connections stay open. */
  pause(): Promise<void>;
  /** Continues a frozen process (SIGCONT). */
  resume(): Promise<void>;
  /** Kills the process (SIGKILL); resolves when it has ended. */
  kill(): Promise<void>;
  /** Kills the process if it runs and starts it again on the same port, with its arguments and these. */
  restart(extraArgs?: readonly string[]): Promise<void>;
  /** Sends a raw command on the kit's own connection; an error reply rejects with the server's text. */
  command(...args: [RawArgument, ...RawArgument[]]): Promise<RawReply>;
  /** Ends the process and removes its temporary folder. Idempotent. */
  close(): Promise<void>;
}

const ATTEMPTS = 10;

class OwnServer implements TestServer {
  readonly kind = 'process';
  readonly host = LOOPBACK;
  readonly url: string;
  #process: ServerProcess;
  #control: Promise<RawConnection> | undefined;

  constructor(
    process: ServerProcess,
    readonly port: number,
    readonly dir: string,
    readonly isTemporary: boolean,
  ) {
    this.#process = process;
    this.url = `redis://${LOOPBACK}:${port}`;
  }

  get pid(): number {
    return this.#process.pid;
  }

  get log(): string {
    return this.#process.log;
  }

  pause(): Promise<void> {
    return this.#process.pause();
  }

  async resume(): Promise<void> {
    this.#process.resume();
  }

  kill(): Promise<void> {
    return this.#process.kill();
  }

  async restart(extraArgs: readonly string[] = []): Promise<void> {
    await this.#process.kill();
    this.#process = await this.#process.startAgain(extraArgs);
  }

  async command(...args: [RawArgument, ...RawArgument[]]): Promise<RawReply> {
    // A connection that failed is replaced.
    const open = await this.#control?.catch(() => undefined);
    if (open?.isOpen !== true) {
      this.#control = RawConnection.connect(this.host, this.port);
      (await this.#control).unref();
    }
    const connection = await (this.#control as Promise<RawConnection>);
    return connection.command(...args);
  }

  async close(): Promise<void> {
    // A connection that failed needs no closing.
    const control = await this.#control?.catch(() => undefined);
    await control?.close();
    await this.#process.kill();
    if (this.isTemporary) await rm(this.dir, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Starts a real server process on 127.0.0.1 and resolves when it answers. The server ends with `close()` or with this
 * process, however that ends, and does not keep this process alive.
 *
 * @example
 * ```ts
 * const server = await startServer({ args: ['--appendonly', 'yes'] });
 * await server.command('SET', 'key', 'value');
 * await server.restart();
 * await server.close();
 * ```
 */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const binary = options.binary ?? findServerBinary();
  if (binary === null) throw new Error('Neither redis-server nor valkey-server is on PATH');
  const isTemporary = options.dir === undefined;
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'holdfast-server-')));
  const args = options.args ?? [];
  try {
    for (let attempt = 1; ; attempt += 1) {
      const port = options.port ?? (await findFreePort());
      try {
        const started = await ServerProcess.start({ binary, port, dir, isTemporary, args });
        return new OwnServer(started, port, dir, isTemporary);
      } catch (error) {
        const mayRetry = error instanceof PortTakenError && options.port === undefined;
        if (!mayRetry || attempt === ATTEMPTS) throw error;
      }
    }
  } catch (error) {
    if (isTemporary) await rm(dir, { recursive: true, force: true });
    throw error;
  }
}
