/** What an interop suite speaks through: Redisson in a JVM, clients of ours, and the servers that both are at. */
import { afterAll, beforeAll, describe, inject, onTestFinished, vi } from 'vitest';
import { type ClientOptions, Holdfast } from '../../../src/index.ts';
import { describeWithProcess } from '../../harness/servers.ts';
import { CLUSTER } from './cluster.ts';
import { BUILT_WITHIN_MS, hasJava } from './java-build.ts';
import { JavaPeer, type JavaPeerOptions } from './java-peer.ts';
import { PATIENT } from './patient.ts';
import { ONE_SERVER, type Place, type Topology } from './place.ts';
import { type Habits, habitsOf, type RedissonVersion } from './versions.ts';
import { wakeUpMedian } from './wake-ups.ts';

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

type Suite = (interop: Interop) => void;

/** Runs the suites for the project's version of Redisson, at servers of the file's own. */
export function describeInterop(suites: Readonly<Partial<Record<RedissonVersion, readonly Suite[]>>>): void {
  const version = inject('redisson');
  const topology = inject('topology') === 'cluster' ? CLUSTER : ONE_SERVER;
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
    for (const suite of suites[version] ?? []) suite(interop);
  });
}
