/**
 * A primary and two replicas, which three Sentinels watch over. Workers ask the Sentinels and talk to the servers
 * directly.
 *
 * One fault at a time may change the primary: Sentinels that are told to fail over in the middle of a failover may
 * disagree from then on, which no client is asked to survive.
 */
import type { FaultProxy, TestServer } from '../../src/testing/index.ts';
import {
  PERIODS,
  PUBLISH_MS,
  setPeriods,
  startSentinels,
  type TestSentinels,
} from '../../tests/harness/sentinels.ts';
import { answerOf, infoOf } from '../../tests/harness/server-answers.ts';
import { eventually } from '../../tests/harness/wait.ts';
import type { Stage, StageTarget } from '../fault.ts';
import type { StageOptions } from './one.ts';
import { obeys, repair } from './repair.ts';
import { whenInSync } from './replication.ts';
import { isUp, revive } from './restart.ts';
import { healed } from './within.ts';

const REPLICAS = 2;
const FAILED_OVER_WITHIN_MS = 8_000;
const SETTLED_WITHIN_MS = 7_000;

export class SentinelStage implements Stage {
  readonly name = 'sentinel';
  readonly target: StageTarget;
  readonly links: readonly FaultProxy[] = [];
  readonly watched: TestSentinels;
  #isChanging = false;

  constructor(watched: TestSentinels) {
    this.watched = watched;
    this.target = { kind: 'sentinel', name: watched.name, sentinels: watched.addresses };
  }

  get servers(): readonly TestServer[] {
    return this.watched.servers;
  }

  async primaries(): Promise<readonly TestServer[]> {
    return [await this.watched.primary()];
  }

  /** Begins a change of the primary; undefined while there is another one. Answers how it ends. */
  beginChange(): (() => Promise<void>) | undefined {
    if (this.#isChanging) return undefined;
    this.#isChanging = true;
    return async () => {
      await this.watched.whenSettled(SETTLED_WITHIN_MS).catch(() => undefined);
      this.#isChanging = false;
    };
  }

  /** A Sentinel that answers. */
  async sentinel(): Promise<TestServer | undefined> {
    for (const sentinel of this.watched.sentinels) {
      if ((await answerOf(sentinel, 'PING')) !== undefined) return sentinel;
    }
    return undefined;
  }

  /**
   * Starts a server that is dead, empty, as a replica of the primary. One that was the primary waits for its successor,
   * or the others would forget with it.
   */
  async revive(server: TestServer): Promise<void> {
    const primary = await this.#successorOf(server);
    const role = primary === undefined ? ['no', 'one'] : [primary.host, String(primary.port)];
    await revive(server, 'nothing', ['--replicaof', ...role]);
  }

  heal(): Promise<void> {
    return healed(this.name, async (step) => {
      const { sentinels } = this.watched;
      await Promise.all([...sentinels, ...this.servers].map((server) => server.resume()));
      await Promise.all(sentinels.map((sentinel) => this.#healSentinel(sentinel)));
      step('its Sentinels to replace a dead primary');
      for (const server of this.servers.filter((one) => !isUp(one))) await this.revive(server);
      step('its servers');
      await Promise.all(this.servers.map((server) => repair(server)));
      step('its Sentinels to agree');
      const primary = await this.#settle();
      await this.watched.whenAcquainted();
      step('its replicas to follow');
      await whenInSync(
        primary,
        this.servers.filter((server) => server !== primary),
      );
    });
  }

  close(): Promise<void> {
    return this.watched.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The primary by the word of the Sentinels, when it is another server that runs; undefined when there is none. */
  async #successorOf(server: TestServer): Promise<TestServer | undefined> {
    const others = this.servers.filter((other) => other !== server && isUp(other));
    if (others.length === 0) return undefined;
    const check = async () => {
      const primary = await this.watched.primary();
      return primary !== server && isUp(primary) && primary;
    };
    return eventually(check, { withinMs: FAILED_OVER_WITHIN_MS, everyMs: 50 }).then(
      (primary) => primary || undefined,
      () => undefined,
    );
  }

  async #settle(): Promise<TestServer> {
    try {
      return await this.watched.whenSettled(SETTLED_WITHIN_MS);
    } catch {
      await this.watched.watchAnew(await this.#acting());
      return this.watched.whenSettled();
    }
  }

  /** The primary with the most replicas, by the word of the servers. */
  async #acting(): Promise<TestServer> {
    let [acting, most] = [undefined as TestServer | undefined, -1];
    for (const server of this.servers) {
      const info = await infoOf(server, 'replication');
      const count = info?.get('role') === 'master' ? Number(info.get('connected_slaves')) : -1;
      if (count > most) [acting, most] = [server, count];
    }
    if (acting === undefined) throw new Error('No server is a primary');
    return acting;
  }

  async #healSentinel(sentinel: TestServer): Promise<void> {
    // It finds what it knew in the configuration that it keeps writing.
    if (!isUp(sentinel)) await sentinel.restart();
    await obeys(sentinel, 'PING');
    await setPeriods(sentinel, ...PERIODS, 'publish-period', PUBLISH_MS);
  }
}

export async function startSentinelStage({ binary }: StageOptions = {}): Promise<SentinelStage> {
  const servers = { replicas: REPLICAS, ...(binary !== undefined && { binary }) };
  return new SentinelStage(await startSentinels(servers));
}
