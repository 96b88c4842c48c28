/**
 * What a scene has to play with, and what it leaves behind when it is over: nothing.
 *
 * Clients and worker processes that a scene asks for belong to it; they end with it, also when it fails.
 */
import type { Redis } from 'ioredis';
import { Holdfast } from '../../client.ts';
import type { Screen } from '../render/screen.ts';
import type { Fact } from '../render/table.ts';
import { WorkerProcess } from './worker-process.ts';

/** One thing the demo shows. */
export interface Scene {
  readonly title: string;
  /** What is about to happen, for who watches. */
  readonly story: string;
  /** Plays it; resolves to what was seen, or throws what did not hold. */
  play(stage: Stage): Promise<Fact[]>;
}

/** The lease of every hold in the demo, renewed at a third of it. */
export const LEASE_MS = 1_500;

const INDENT = '     ';

/** Ends the scene unless this is so. */
export function demand(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Error(otherwise);
}

export interface StageParts {
  readonly url: string;
  readonly redis: Redis;
  readonly screen: Screen;
  /** The beginning of every name that the demo uses. */
  readonly prefix: string;
}

export class Stage implements AsyncDisposable {
  /** A plain connection to the server. */
  readonly redis: Redis;
  readonly screen: Screen;
  readonly #url: string;
  readonly #prefix: string;
  readonly #clients = new Set<Holdfast>();
  readonly #workers = new Set<WorkerProcess>();
  /** Set when a scene is stopped; what it still does then is no longer shown. */
  #isOver = false;

  constructor({ url, redis, screen, prefix }: StageParts) {
    this.redis = redis;
    this.screen = screen;
    this.#url = url;
    this.#prefix = prefix;
  }

  /** A name nobody else uses. */
  name(what: string): string {
    return `${this.#prefix}:${what}`;
  }

  async client(): Promise<Holdfast> {
    const client = await Holdfast.connect(this.#url, { watchdogMs: LEASE_MS });
    this.#clients.add(client);
    if (this.#isOver) await client.close();
    return client;
  }

  /** A process of its own, connected to the server. */
  async worker(): Promise<WorkerProcess> {
    demand(!this.#isOver, 'the scene is over');
    const worker = new WorkerProcess();
    this.#workers.add(worker);
    worker.tell({ do: 'connect', url: this.#url, watchdogMs: LEASE_MS });
    await worker.next('connected');
    return worker;
  }

  /** What is going on right now. */
  live(text: string): void {
    if (!this.#isOver) this.screen.live(INDENT + text);
  }

  /** What happened. */
  note(text: string): void {
    if (!this.#isOver) this.screen.line(INDENT + text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.screen.clear();
    await Promise.all([...this.#workers].map((worker) => worker.kill()));
    await Promise.allSettled([...this.#clients].map((client) => client.close()));
  }
}
