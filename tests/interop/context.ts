/**
 * What an interop suite speaks through: Redisson in a JVM, clients of ours, and the servers that both are at.
 *
 * Suites know nothing of the servers but `Topology` and `Place`. To run them elsewhere, write another of these: see
 * `cluster.ts`.
 */
import { afterAll, beforeAll, describe, inject, onTestFinished, vi } from 'vitest';
import { type ClientOptions, Holdfast, type Target } from '../../src/index.ts';
import { type RawArgument, RawConnection, type RawReply, startServer } from '../../src/testing/index.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { BUILT_WITHIN_MS, hasJava } from './java-build.ts';
import { JavaPeer, type JavaPeerOptions, type JavaTarget } from './java-peer.ts';
import { PATIENT } from './patient.ts';
import { type Habits, habitsOf, type RedissonVersion } from './versions.ts';
import { wakeUpMedian } from './wake-ups.ts';

/** A way to arrange servers. */
export interface Topology {
  readonly title: string;
  readonly isCluster: boolean;
  open(): Promise<Place>;
}

/** Servers, seen from both languages and from outside. */
export interface Place {
  readonly javaTarget: JavaTarget;
  /** What `Holdfast.connect` takes. */
  readonly nodeTarget: string | Target;
  /** A command to the server that has the key. */
  command(key: string, ...args: [RawArgument, ...RawArgument[]]): Promise<RawReply>;
  /** Every key of every server. */
  keys(): Promise<string[]>;
  /** How many connections listen to the channels whose names start so. */
  listeners(channel: string): Promise<number>;
  /** The messages of a channel from now on, as they come. */
  hear(channel: string): Promise<readonly string[]>;
  /** How many scripts have run so far. */
  scriptRuns(): Promise<number>;
  close(): Promise<void>;
}

/** A server process of the suite's own. */
const ONE_SERVER: Topology = { title: 'one server', isCluster: false, open: openOneServer };

async function openOneServer(): Promise<Place> {
  const binary = inject('serverBinary');
  const server = await startServer(binary === null ? {} : { binary });
  return {
    javaTarget: { addresses: [server.url], isCluster: false },
    nodeTarget: server.url,
    command: (_key, ...args) => server.command(...args),
    keys: async () => ((await server.command('KEYS', '*')) as RawReply[]).map(String),
    async listeners(channel) {
      const channels = (await server.command('PUBSUB', 'CHANNELS', `${channel}*`)) as string[];
      return sumOfCounts((await server.command('PUBSUB', 'NUMSUB', ...channels)) as RawReply[]);
    },
    async hear(channel) {
      const connection = await RawConnection.connect(server.host, server.port);
      onTestFinished(() => connection.close());
      const heard: string[] = [];
      connection.onMessage(({ message }) => heard.push(message));
      await connection.subscribe(channel);
      return heard;
    },
    async scriptRuns() {
      return scriptRunsIn(String(await server.command('INFO', 'commandstats')));
    },
    close: () => server.close(),
  };
}

/** Of names and counts in turns, the sum of the counts. */
export function sumOfCounts(replies: readonly RawReply[]): number {
  return replies.reduce<number>((sum, reply, index) => (index % 2 === 1 ? sum + Number(reply) : sum), 0);
}

/** How many scripts have run according to INFO. */
export function scriptRunsIn(stats: string): number {
  const calls = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** What the tests of one file share. There before the first of them runs. */
export class Interop {
  readonly version: RedissonVersion;
  readonly habits: Habits;
  readonly topology: Topology;
  #place: Place | undefined;
  #java: JavaPeer | undefined;
  #node: Holdfast | undefined;

  constructor(version: RedissonVersion, topology: Topology) {
    this.version = version;
    this.topology = topology;
    this.habits = habitsOf(version);
  }

  get place(): Place {
    return there(this.#place);
  }

  /** Redisson, with its default settings. */
  get java(): JavaPeer {
    return there(this.#java);
  }

  /** A client of ours, with its default settings. */
  get node(): Holdfast {
    return there(this.#node);
  }

  /** Another JVM, killed when the test ends. */
  async startJava(options: Partial<JavaPeerOptions> = {}): Promise<JavaPeer> {
    const peer = await JavaPeer.start({ version: this.version, ...this.place.javaTarget, ...options });
    onTestFinished(() => peer.kill());
    return peer;
  }

  /** Another client of ours, closed when the test ends. */
  async openNode(options: ClientOptions = {}): Promise<Holdfast> {
    const client = await Holdfast.connect(this.place.nodeTarget, { ...PATIENT, ...options });
    onTestFinished(() => client.close());
    return client;
  }

  async open(): Promise<void> {
    this.#place = await this.topology.open();
    this.#node = await Holdfast.connect(this.#place.nodeTarget, PATIENT);
    this.#java = await JavaPeer.start({ version: this.version, ...this.#place.javaTarget });
  }

  async close(): Promise<void> {
    await this.#java?.kill();
    await this.#node?.close();
    await this.#place?.close();
  }
}

function there<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('There only while tests run');
  return part;
}

/** Some tests start a JVM, and then wait for a lease to end. */
const TESTED_WITHIN_MS = 60_000;

/** In the name of whatever is skipped for want of Java. */
const NEEDS_JAVA = '[needs a JDK of at least 17, and Maven]';

/** `describe` for tests that need Java. On CI they are not skipped without it: they fail. */
export function describeWithJava(name: string, define: () => void): void {
  const { CI = '' } = process.env;
  if (hasJava() || CI !== '') describeWithProcess(name, define);
  else describe.skip(`${name} ${NEEDS_JAVA}`, define);
}

/** Runs suites with one version of Redisson, at servers of the file's own. */
export function describeInterop(
  version: RedissonVersion,
  suites: readonly ((interop: Interop) => void)[],
  topology: Topology = ONE_SERVER,
): void {
  vi.setConfig({ testTimeout: TESTED_WITHIN_MS });
  describeWithJava(`with Redisson ${version} at ${topology.title}`, () => {
    const interop = new Interop(version, topology);
    beforeAll(() => interop.open(), BUILT_WITHIN_MS);
    afterAll(async () => {
      await interop.close();
      const { medianMs, count } = wakeUpMedian();
      if (count > 0)
        console.log(`Redisson ${version}: ${count} wake-ups, half of them within ${medianMs} ms`);
    });
    for (const suite of suites) suite(interop);
  });
}
