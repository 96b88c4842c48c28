/**
 * The resources of a scene: connections, worker processes, names and output.
 *
 * Clients and worker processes belong to the scene that requested them, and end with it, also when it fails.
 */
import type { Redis } from 'ioredis';
import { Holdfast } from '../../client.ts';
import type { Screen } from '../render/screen.ts';
import type { Fact } from '../render/table.ts';
import { WorkerProcess } from './worker-process.ts';

/** One part of the demo. */
export interface Scene {
  readonly title: string;
  /** Tells the viewer what is about to happen. */
  readonly story: string;
  /** Plays the scene; resolves to the observations, or throws if one is wrong. */
  play(stage: Stage): Promise<Fact[]>;
}

/** The lease of every hold in the demo, renewed after a third of it. */
export const LEASE_MS = 1_500;

const INDENT = '     ';

/** Ends the scene if not `isSo`. */
export function demand(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Error(otherwise);
}

export interface StageParts {
  readonly url: string;
  readonly redis: Redis;
  readonly screen: Screen;
  /** The prefix of every name in the demo. */
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
  /** Set when a scene is stopped; its later output is not shown. */
  #isOver = false;

  constructor({ url, redis, screen, prefix }: StageParts) {
    this.redis = redis;
    this.screen = screen;
    this.#url = url;
    this.#prefix = prefix;
  }

  /** A unique name. */
  name(what: string): string {
    return `${this.#prefix}:${what}`;
  }

  async client(): Promise<Holdfast> {
    const client = await Holdfast.connect(this.#url, { watchdogMs: LEASE_MS });
    this.#clients.add(client);
    if (this.#isOver) await client.close();
    return client;
  }

  /** Starts a worker process that is connected to the server. */
  async worker(): Promise<WorkerProcess> {
    demand(!this.#isOver, 'the scene is over');
    const worker = new WorkerProcess();
    this.#workers.add(worker);
    worker.tell({ do: 'connect', url: this.#url, watchdogMs: LEASE_MS });
    await worker.next('connected');
    return worker;
  }

  /** Starts a worker process that holds this lock. */
  async holder(lock: string): Promise<{ worker: WorkerProcess; owner: string }> {
    this.live('starting a process');
    const worker = await this.worker();
    const held = worker.next('held');
    worker.tell({ do: 'hold', lock });
    const { owner } = await held;
    return { worker, owner };
  }

  /** Shows the current state. */
  live(text: string): void {
    if (!this.#isOver) this.screen.live(INDENT + text);
  }

  /** Prints an event. */
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
