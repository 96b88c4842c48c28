/**
 * What a mutant's scenario plays on: servers, proxies, clients and recorders, all of them closed when the scenario ends.
 *
 * A client of the rig is an ioredis client that the test's own `Holdfast.from` wraps, so that a mutant can stand between
 * the two. What a mutant changes there is left to `interceptor.ts`.
 */
import { Redis } from 'ioredis';
import { type ClientOptions, Holdfast } from '../../src/index.ts';
import * as scripts from '../../src/scripts/generated.ts';
import type { HistoryEvent } from '../../src/testing/history/event.ts';
import { Recorder } from '../../src/testing/history/recorder.ts';
import { type FaultProxy, startFaultProxy, startServer, type TestServer } from '../../src/testing/index.ts';
import { type Interceptor, intercept } from './interceptor.ts';

/** Where a server or a proxy listens. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** Where a client connects. */
export type Target = Place | { readonly sentinels: Place[]; readonly name: string };

export interface RigClientOptions {
  /** What the mutant does to the client's commands. */
  readonly by?: Interceptor | undefined;
  readonly options?: ClientOptions;
  /** Whether the library keeps a command until the server answers, however often the connection breaks. */
  readonly isPatient?: boolean;
}

interface Closable {
  close(): unknown;
}

/** Short, so that closing a client that is cut off does not take long; no replica is asked unless a scenario is about that. */
const DEFAULTS: ClientOptions = { commandTimeoutMs: 1_000, replicas: 0 };

export class Rig {
  /** Whether the scenario is to play with the mutation, or without. */
  readonly isMutant: boolean;
  readonly binary: string | undefined;
  /**
   * The scenario's times leave room for stalls of this process that are shorter: they are not noted, since the checker
   * would excuse by them what is not due to them.
   */
  shortStallMs = 100;
  readonly #events: HistoryEvent[] = [];
  readonly #clients: Closable[] = [];
  readonly #owned: Closable[] = [];
  readonly #dead = new Set<string>();

  constructor(isMutant: boolean, binary: string | undefined) {
    this.isMutant = isMutant;
    this.binary = binary;
  }

  /** What was recorded so far. */
  get events(): HistoryEvent[] {
    return [...this.#events];
  }

  /** Closes it when the scenario ends, after the clients. */
  own<T extends Closable>(closable: T): T {
    this.#owned.push(closable);
    return closable;
  }

  /** A server that knows every script, so that each step is one request. */
  async server(args: readonly string[] = []): Promise<TestServer> {
    const { binary } = this;
    const server = this.own(await startServer({ args, ...(binary !== undefined && { binary }) }));
    await loadScripts(server);
    return server;
  }

  async proxy(target: Place): Promise<FaultProxy> {
    return this.own(await startFaultProxy(target));
  }

  async client(target: Target, settings: RigClientOptions = {}): Promise<Holdfast> {
    return (await this.open(target, settings)).client;
  }

  /** The same, with the client library's own client. */
  async open(
    target: Target,
    { by, options, isPatient = false }: RigClientOptions = {},
  ): Promise<{ client: Holdfast; redis: Redis }> {
    const place = 'host' in target ? { host: target.host, port: target.port } : target;
    const redis = new Redis({ ...place, ...(isPatient && { maxRetriesPerRequest: null }) });
    // Without a listener ioredis prints every error; the faults make many.
    redis.on('error', () => {});
    const client = Holdfast.from(by === undefined ? redis : intercept(redis, by), {
      ...DEFAULTS,
      ...options,
    });
    // What goes wrong in the background while a fault lasts is expected.
    client.on('error', () => {}).on('warning', () => {});
    this.#clients.push({
      async close() {
        await client.close();
        redis.disconnect();
      },
    });
    await redis.ping();
    return { client, redis };
  }

  /** Records what one process of the scenario does, until it dies. */
  recorder(proc: string): Recorder {
    return this.own(
      new Recorder(proc, (event) => {
        if (!this.#dead.has(proc) && !this.#isShortStall(event)) this.#events.push(event);
      }),
    );
  }

  /**
   * Has a process die that reaches its server by this proxy: to the server, a client whose connections are gone and do not
   * come back is dead.
   */
  async kill(proc: string, proxy: FaultProxy): Promise<void> {
    this.recorder(proc).record({ worker: '', key: '', op: 'died', type: 'info' });
    this.#dead.add(proc);
    await proxy.close();
  }

  /** Adds what a process recorded elsewhere. */
  add(events: readonly HistoryEvent[]): void {
    this.#events.push(...events);
  }

  /** Puts a fault into the history while it is acted out. */
  async fault<T>(what: string, act: () => Promise<T>, { removesHolds = false } = {}): Promise<T> {
    const nemesis = this.recorder('nemesis');
    const about = {
      worker: 'nemesis',
      key: '',
      op: 'fault',
      what,
      ...(removesHolds && { removesHolds }),
    } as const;
    nemesis.record({ ...about, type: 'invoke' });
    try {
      return await act();
    } finally {
      nemesis.record({ ...about, type: 'ok' });
    }
  }

  async close(): Promise<void> {
    // Together, since each client may have to wait for an answer that never comes.
    await Promise.all(this.#clients.map((client) => client.close()));
    await Promise.all(this.#owned.map((closable) => closable.close()));
  }

  #isShortStall({ op, atNs, fromNs = atNs }: HistoryEvent): boolean {
    return op === 'stalled' && atNs - fromNs < this.shortStallMs * 1e6;
  }
}

export async function loadScripts(server: TestServer): Promise<void> {
  await Promise.all(Object.values(scripts).map(({ source }) => server.command('SCRIPT', 'LOAD', source)));
}
