/**
 * A Redisson client in a JVM of its own, driven by orders in JSON lines. What it understands is written in the
 * Java program; `java-objects.ts` puts a face on it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { eventually } from '../../harness/wait.ts';
import { javaClassPath } from './java-build.ts';
import type { RedissonVersion } from './versions.ts';

/** Where Java connects: one server, or nodes of a Cluster. */
export interface JavaTarget {
  readonly addresses: readonly string[];
  readonly isCluster: boolean;
}

export interface JavaPeerOptions extends JavaTarget {
  readonly version: RedissonVersion;
  /** Redisson's `lockWatchdogTimeout`; its own default when left out. */
  readonly watchdogMs?: number;
  /** What a name mapper puts before every name; no mapper when left out. */
  readonly namePrefix?: string;
}

export interface JavaOrder {
  /** Orders of one thread run one after the other; each thread is an owner. */
  readonly thread: string;
  readonly kind: string;
  readonly op: string;
  readonly name?: string;
  readonly names?: readonly string[];
  readonly waitMs?: number;
  readonly leaseMs?: number;
  readonly count?: number;
  readonly intervalMs?: number;
  readonly mode?: 'OVERALL' | 'PER_CLIENT';
  readonly ids?: readonly string[];
}

interface Answer {
  readonly ready?: boolean;
  readonly id?: number;
  readonly value?: unknown;
  readonly error?: string;
  readonly message?: string;
  readonly unsupported?: string;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** What Redisson threw; `name` is the Java class. */
export class JavaError extends Error {
  constructor(name: string, message: string | undefined) {
    super(`${name}: ${message}`);
    this.name = name;
  }
}

/** This version of Redisson has no such method. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError';
}

const JVM_FLAGS = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
const ASLEEP_WITHIN_MS = 20_000;

export class JavaPeer implements AsyncDisposable {
  readonly version: RedissonVersion;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #gone: Promise<unknown>;
  #ready: () => void = () => {};
  #lastOrder = 0;
  #lastThread = 0;
  #stderr = '';

  private constructor(version: RedissonVersion, child: ChildProcess) {
    this.version = version;
    this.pid = child.pid as number;
    this.#child = child;
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => this.#hear(JSON.parse(line) as Answer));
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    // A JVM that is killed takes its end of the pipe along.
    child.stdin?.on('error', () => {});
    this.#gone = once(child, 'close').then(() => {
      for (const { reject } of this.#pending.values()) reject(this.#ended());
      this.#pending.clear();
    });
  }

  /** Builds the program if need be, starts it, and resolves when it is connected. */
  static async start({ version, ...settings }: JavaPeerOptions): Promise<JavaPeer> {
    const args = [
      ...JVM_FLAGS,
      '-cp',
      await javaClassPath(version),
      'interop.Peer',
      JSON.stringify(settings),
    ];
    const peer = new JavaPeer(version, spawn('java', args, { stdio: ['pipe', 'pipe', 'pipe'] }));
    await new Promise<void>((resolve, reject) => {
      peer.#ready = resolve;
      peer.#gone.then(() => reject(peer.#ended()), reject);
    });
    return peer;
  }

  /** A name for a thread that nobody has used yet: a new owner. */
  newThread(): string {
    this.#lastThread += 1;
    return `thread ${this.#lastThread}`;
  }

  /** Resolves with what Redisson answers, and rejects with a `JavaError` of what it throws. */
  order<T = true>(order: JavaOrder): Promise<T> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      return Promise.reject(this.#ended());
    this.#lastOrder += 1;
    const id = this.#lastOrder;
    const answer = new Promise<unknown>((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    // Some orders are never answered, because a test kills the JVM.
    answer.catch(() => {});
    this.#child.stdin?.write(`${JSON.stringify({ id, ...order })}\n`);
    return answer as Promise<T>;
  }

  /** Resolves when the thread sleeps inside of Redisson, having tried in vain. */
  async untilAsleep(thread: string): Promise<void> {
    await eventually(() => this.order<boolean>({ thread, kind: 'thread', op: 'isAsleep' }), {
      withinMs: ASLEEP_WITHIN_MS,
    });
  }

  /** Ends the JVM as a crash would. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  #ended(): Error {
    return new Error(`The JVM has ended. ${this.#stderr}`);
  }

  #hear({ ready, id, value, error, message, unsupported }: Answer): void {
    if (ready) this.#ready();
    if (id === undefined) return;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (unsupported !== undefined) pending?.reject(new UnsupportedError(unsupported));
    else if (error !== undefined) pending?.reject(new JavaError(error, message));
    else pending?.resolve(value);
  }
}
