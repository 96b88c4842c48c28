/**
 * A primary with replicas, and Sentinels that watch over them and make another one the primary when it dies
 * or when they are told to. Sentinels that are dead or frozen have no say in what all agree on.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RawError, type RawReply, startServer, type TestServer } from '../../src/testing/index.ts';
import { startReplicas, type TestReplicas } from './replicas.ts';
import { answerOf, infoOf } from './server-answers.ts';
import { closeAll, orClose, startTogether } from './start-together.ts';
import { eventually } from './wait.ts';

export interface SentinelsOptions {
  readonly sentinels?: number;
  readonly replicas?: number;
  /** After how long without an answer a Sentinel takes a server for dead. */
  readonly downAfterMs?: number;
  /** How long a failover may take; one that failed, as by a split vote, is tried again after twice this. */
  readonly failoverTimeoutMs?: number;
  /** Further arguments of the servers, not of the Sentinels. */
  readonly args?: readonly string[];
  /** Where the Sentinels find the primary, if not at its own address; `primary()` does not know it by this one. */
  readonly primaryAt?: { readonly host: string; readonly port: number };
  /** Further lines of the Sentinels' configuration. */
  readonly sentinelLines?: readonly string[];
  readonly binary?: string;
}

const NAME = 'holdfast-primary';
const QUORUM = 2;
const DOWN_AFTER_MS = 1_000;
const FAILOVER_TIMEOUT_MS = 2_000;
const PARALLEL_SYNCS = 10;
const AGREED_WITHIN_MS = 20_000;
const POLL_MS = 20;
const BOUNDS = { withinMs: AGREED_WITHIN_MS, everyMs: POLL_MS };
/**
 * How often Sentinels look at servers; seconds by themselves. While they are at a failover they look at the
 * replicas every second, and what they saw is good for three looks or, when the primary is down, five pings:
 * shorter periods leave them without a replica to choose.
 */
export const PERIODS = ['info-period', 500, 'ping-period', 500, 'ask-period', 100] as const;
/** How often they tell each other what they know: often at first, to get acquainted. */
const FIRST_PUBLISH_MS = 200;
/**
 * They demote a second primary after four times this. It must be longer than a failover takes, or those that
 * have not heard of it yet demote the server that is being promoted.
 */
export const PUBLISH_MS = 750;
/** A failover that has not succeeded by then was given up, and is not tried again by itself. */
const REQUEST_MS = 6_000;
const REQUESTS = 3;

/** A Sentinel, whose folder has the configuration file that it keeps rewriting. */
async function startSentinel(primary: TestServer, options: SentinelsOptions): Promise<TestServer> {
  const { binary, downAfterMs = DOWN_AFTER_MS, failoverTimeoutMs = FAILOVER_TIMEOUT_MS } = options;
  const { host, port } = options.primaryAt ?? primary;
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-sentinel-'));
  const file = join(dir, 'sentinel.conf');
  const lines = [
    ...(options.sentinelLines ?? []),
    `sentinel monitor ${NAME} ${host} ${port} ${QUORUM}`,
    `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
    `sentinel failover-timeout ${NAME} ${failoverTimeoutMs}`,
    `sentinel parallel-syncs ${NAME} ${PARALLEL_SYNCS}`,
  ];
  return orClose({ close: () => rm(dir, { recursive: true, force: true }) }, async () => {
    await writeFile(file, `${lines.join('\n')}\n`);
    const args = [file, '--sentinel'];
    const sentinel = await startServer({ dir, args, ...(binary === undefined ? {} : { binary }) });
    await orClose(sentinel, () => setPeriods(sentinel, ...PERIODS, 'publish-period', FIRST_PUBLISH_MS));
    return sentinel;
  });
}

/** Servers before version 7 do not know the command, and take the seconds. */
export async function setPeriods(sentinel: TestServer, ...periods: (string | number)[]): Promise<void> {
  try {
    await sentinel.command('SENTINEL', 'DEBUG', ...periods);
  } catch (error) {
    if (!(error instanceof RawError)) throw error;
  }
}

export class TestSentinels implements AsyncDisposable {
  /** What the Sentinels call the primary, whoever it is. */
  readonly name = NAME;
  readonly sentinels: readonly TestServer[];
  /** First the one that was started as the primary. */
  readonly servers: readonly TestServer[];
  readonly #group: TestReplicas;

  constructor(sentinels: readonly TestServer[], group: TestReplicas) {
    this.sentinels = sentinels;
    this.servers = group.servers;
    this.#group = group;
  }

  /** Where the Sentinels are. */
  get addresses(): { host: string; port: number }[] {
    return this.sentinels.map(({ host, port }) => ({ host, port }));
  }

  /** The primary, by the first Sentinel that answers. */
  async primary(): Promise<TestServer> {
    for (const sentinel of this.sentinels) {
      const primary = await this.#primaryOf(sentinel);
      if (primary !== undefined) return primary;
    }
    throw new Error('No sentinel answers');
  }

  /** Resolves to the new primary when all Sentinels agree on one that is not `from`, and it agrees too. */
  whenFailedOver(from: TestServer): Promise<TestServer> {
    return this.#failedOver(from, AGREED_WITHIN_MS);
  }

  /**
   * Resolves to the primary when all agree on it, every other server that answers follows it, and every
   * Sentinel has seen that. After a failover that the old primary survived this takes some seconds.
   */
  whenSettled(withinMs = AGREED_WITHIN_MS): Promise<TestServer> {
    return eventually(
      async () => {
        const primary = await this.#agreedPrimary();
        for (const server of this.servers.filter((one) => one !== primary)) {
          const info = await infoOf(server, 'replication');
          if (info === undefined) continue;
          const isInSync = info.get('master_link_status') === 'up';
          if (!isInSync || Number(info.get('master_port')) !== primary.port) {
            throw new Error(`${server.url} does not follow ${primary.url}`);
          }
          for (const sentinel of await this.#answering())
            await assertSeenFollowing(sentinel, server, primary);
        }
        return primary;
      },
      { withinMs, everyMs: POLL_MS },
    );
  }

  /**
   * Makes every Sentinel that answers forget what it knows and watch over this primary, with the usual times. After
   * two failovers at once they may disagree and stay so.
   */
  async watchAnew({ host, port }: TestServer): Promise<void> {
    const times = ['down-after-milliseconds', DOWN_AFTER_MS, 'failover-timeout', FAILOVER_TIMEOUT_MS];
    for (const sentinel of await this.#answering()) {
      await sentinel.command('SENTINEL', 'REMOVE', NAME);
      await sentinel.command('SENTINEL', 'MONITOR', NAME, host, port, QUORUM);
      await sentinel.command('SENTINEL', 'SET', NAME, ...times, 'parallel-syncs', PARALLEL_SYNCS);
    }
  }

  /**
   * Waits until an earlier failover is over for everybody, and tells a Sentinel to make another server the
   * primary; resolves to it when all agree. The old one may take writes until `whenSettled`.
   */
  async failover(): Promise<TestServer> {
    const from = await this.whenSettled();
    for (let request = 1; request <= REQUESTS; request += 1) {
      await eventually(() => this.#requestFailover(from), BOUNDS);
      const primary = await this.#failedOver(from, REQUEST_MS).catch(() => undefined);
      if (primary !== undefined) return primary;
    }
    return this.whenFailedOver(from);
  }

  /** Resolves when every Sentinel knows all the others, and all the replicas. */
  async whenAcquainted(): Promise<void> {
    const check = async (sentinel: TestServer) => {
      const state = await stateOf(sentinel);
      const others = Number(state?.get('num-other-sentinels'));
      const replicas = Number(state?.get('num-slaves'));
      return others === this.sentinels.length - 1 && replicas === this.servers.length - 1;
    };
    await Promise.all(this.sentinels.map((sentinel) => eventually(() => check(sentinel), BOUNDS)));
  }

  async close(): Promise<void> {
    await closeAll([...this.sentinels, this.#group]);
    await Promise.all(this.sentinels.map(({ dir }) => rm(dir, { recursive: true, force: true })));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #failedOver(from: TestServer, withinMs: number): Promise<TestServer> {
    const check = async () => {
      const primary = await this.#agreedPrimary();
      if (primary === from) throw new Error(`All sentinels still hold ${from.url} for the primary`);
      return primary;
    };
    return eventually(check, { withinMs, everyMs: POLL_MS });
  }

  /** Refused while a failover is under way, or when the Sentinel has not heard of a good replica lately. */
  async #requestFailover(from: TestServer): Promise<void> {
    const [sentinel] = await this.#answering();
    if (sentinel === undefined) throw new Error('No sentinel answers');
    // A request that was served late must not be followed by one that undoes it.
    if ((await this.#primaryOf(sentinel)) === from) await sentinel.command('SENTINEL', 'FAILOVER', NAME);
  }

  async #answering(): Promise<TestServer[]> {
    const answers = await Promise.all(this.sentinels.map((sentinel) => answerOf(sentinel, 'PING')));
    return this.sentinels.filter((_, index) => answers[index] !== undefined);
  }

  async #primaryOf(sentinel: TestServer): Promise<TestServer | undefined> {
    const answer = await answerOf(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME);
    if (answer === undefined) return undefined;
    const port = Array.isArray(answer) ? Number(answer[1]) : undefined;
    const server = this.servers.find((one) => one.port === port);
    if (server === undefined) throw new Error(`A sentinel names a server of others: ${answer}`);
    return server;
  }

  async #agreedPrimary(): Promise<TestServer> {
    const sentinels = await this.#answering();
    const named = new Set<TestServer>();
    for (const sentinel of sentinels) {
      const state = await stateOf(sentinel);
      const primary = await this.#primaryOf(sentinel);
      if (state?.get('flags')?.includes('failover_in_progress') === true) throw new Error('Still at it');
      if (primary !== undefined) named.add(primary);
    }
    const [primary] = named;
    if (primary === undefined || named.size > 1) throw new Error(`Sentinels name ${named.size} primaries`);
    const info = await infoOf(primary, 'replication');
    if (info !== undefined && info.get('role') !== 'master') throw new Error(`${primary.url} is a replica`);
    return primary;
  }
}

function toMap(answer: RawReply | undefined): Map<string, string> | undefined {
  if (!Array.isArray(answer)) return undefined;
  const entries = new Map<string, string>();
  for (let at = 0; at < answer.length; at += 2) entries.set(String(answer[at]), String(answer[at + 1]));
  return entries;
}

/** What a Sentinel knows about the primary and around it; undefined when it is dead or silent. */
async function stateOf(sentinel: TestServer): Promise<Map<string, string> | undefined> {
  return toMap(await answerOf(sentinel, 'SENTINEL', 'MASTER', NAME));
}

async function assertSeenFollowing(sentinel: TestServer, replica: TestServer, primary: TestServer) {
  const answer = await answerOf(sentinel, 'SENTINEL', 'REPLICAS', NAME);
  if (!Array.isArray(answer)) return;
  const seen = answer.map(toMap).find((state) => Number(state?.get('port')) === replica.port);
  const isReplica =
    seen?.get('role-reported') === 'slave' && Number(seen.get('master-port')) === primary.port;
  if (!isReplica) throw new Error(`Sentinel ${sentinel.port} has not seen ${replica.url} as a replica`);
}

/** Starts servers and Sentinels; resolves when all of them know each other. */
export async function startSentinels(options: SentinelsOptions = {}): Promise<TestSentinels> {
  const { sentinels: count = 3, replicas = 1, args = [], binary } = options;
  const group = await startReplicas({ replicas, args, ...(binary === undefined ? {} : { binary }) });
  return orClose(group, async () => {
    const starts = Array.from({ length: count }, () => startSentinel(group.primary, options));
    const started = new TestSentinels(await startTogether(starts), group);
    await orClose(started, async () => {
      await started.whenAcquainted();
      await Promise.all(started.sentinels.map((one) => setPeriods(one, 'publish-period', PUBLISH_MS)));
    });
    return started;
  });
}
