/**
 * One plain connection to a server that sends exactly the given commands.
 *
 * For tests that imitate another client, byte by byte: no reconnect, no retry, no pool, RESP2.
 */
import { connect, type Socket } from 'node:net';
import { ReplyTracker } from './reply-tracker.ts';
import { encodeCommand, type RawArgument, RawError, type RawReply, RespStream } from './resp.ts';

/** A message that a server pushed to a subscriber. */
export interface RawMessage {
  readonly channel: string;
  readonly message: string;
}

interface Pending {
  resolve(reply: RawReply): void;
  reject(error: Error): void;
}

/**
 * A raw connection.
 *
 * @example
 * ```ts
 * const connection = await RawConnection.connect('127.0.0.1', 6379);
 * await connection.command('HSET', 'lock', 'owner', 1);
 * await connection.close();
 * ```
 */
export class RawConnection implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #stream = new RespStream();
  readonly #tracker = new ReplyTracker<Pending>();
  readonly #pending = new Set<Pending>();
  readonly #listeners = new Set<(message: RawMessage) => void>();
  readonly #closed: Promise<void>;
  #failure: Error | undefined;
  #isUnref = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => {
      this.#failure ??= error;
    });
    this.#closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#failure ??= new Error('The connection was closed');
        for (const pending of this.#pending) pending.reject(this.#failure);
        resolve();
      });
    });
  }

  /** Opens a connection; rejects if that fails. */
  static connect(host: string, port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket));
      });
    });
  }

  /** Whether commands can still be sent. */
  get isOpen(): boolean {
    return this.#failure === undefined && !this.#socket.destroyed;
  }

  /** Resolves when the connection is closed, by either side. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  /** Sends a command. An error reply rejects with the server's text; a broken connection rejects too. */
  command(...args: [RawArgument, ...RawArgument[]]): Promise<RawReply> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const pending = { resolve, reject };
      this.#pending.add(pending);
      this.#socket.ref();
      this.#tracker.request(args.map(String), pending);
      this.#socket.write(encodeCommand(args));
    });
  }

  /** Subscribes to channels; resolves when the server has acknowledged all of them. */
  async subscribe(...channels: [string, ...string[]]): Promise<void> {
    await this.command('SUBSCRIBE', ...channels);
  }

  /** Calls `listener` for every message from now on; returns a function that stops it. */
  onMessage(listener: (message: RawMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves to the next message; rejects if the connection ends first. */
  nextMessage(): Promise<RawMessage> {
    return new Promise((resolve, reject) => {
      const stop = this.onMessage((message) => {
        stop();
        resolve(message);
      });
      this.#closed.then(() => reject(this.#failure), reject);
    });
  }

  /** Lets the process exit while this connection is open, unless a command is pending. */
  unref(): void {
    this.#isUnref = true;
    if (this.#pending.size === 0) this.#socket.unref();
  }

  /** Closes the connection; pending commands are rejected. Idempotent. */
  close(): Promise<void> {
    this.#socket.destroy();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #read(chunk: Buffer): void {
    for (const frame of this.#stream.push(chunk)) {
      const { tag: pending, completesReply } = this.#tracker.sort(frame);
      if (pending === undefined) this.#publish(frame.value);
      else if (completesReply) this.#settle(pending, frame.value);
    }
  }

  #publish(value: RawReply): void {
    if (!Array.isArray(value)) return;
    const message = { channel: String(value.at(-2)), message: String(value.at(-1)) };
    for (const listener of this.#listeners) listener(message);
  }

  #settle(pending: Pending, reply: RawReply): void {
    this.#pending.delete(pending);
    if (this.#isUnref) this.unref();
    if (reply instanceof RawError) pending.reject(reply);
    else pending.resolve(reply);
  }
}
