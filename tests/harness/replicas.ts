/**
 * A primary with replicas. On request the replication link of each replica goes through a fault proxy of
 * its own, so that there are writes that never reach it.
 */
import { type FaultProxy, startFaultProxy, startServer, type TestServer } from '../../src/testing/index.ts';
import { infoOf } from './server-answers.ts';
import { closeAll, orClose, startTogether } from './start-together.ts';
import { eventually } from './wait.ts';

export interface ReplicasOptions {
  readonly replicas?: number;
  /** Whether the link of each replica goes through a fault proxy. */
  readonly proxied?: boolean;
  /** Further arguments of every server. */
  readonly args?: readonly string[];
  readonly binary?: string;
}

export interface PromoteOptions {
  /** Whether the other replicas follow the new primary. The old one is never told. */
  readonly repoint?: boolean;
}

const IN_SYNC_WITHIN_MS = 20_000;
const POLL_MS = 20;

/** A replica, and the way by which the writes of its primary reach it. */
export class TestReplica {
  readonly server: TestServer;
  #link: FaultProxy | undefined;

  constructor(server: TestServer, link: FaultProxy | undefined) {
    this.server = server;
    this.#link = link;
  }

  /** The proxy between the replica and the primary it follows; only with `proxied`. */
  get link(): FaultProxy {
    if (this.#link === undefined) throw new Error('Only with { proxied: true } there is a link to break');
    return this.#link;
  }

  async follow(primary: TestServer): Promise<void> {
    const old = this.#link;
    if (old !== undefined) this.#link = await startFaultProxy(primary);
    const { host, port } = this.#link ?? primary;
    await this.server.command('REPLICAOF', host, port);
    await old?.close();
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.#link?.close();
  }
}

async function startReplica(primary: TestServer, options: ReplicasOptions): Promise<TestReplica> {
  const link = options.proxied === true ? await startFaultProxy(primary) : undefined;
  const { host, port } = link ?? primary;
  const server = startOne(options, ['--replicaof', host, String(port)]);
  return new TestReplica(link === undefined ? await server : await orClose(link, () => server), link);
}

function startOne({ args = [], binary }: ReplicasOptions, role: readonly string[]): Promise<TestServer> {
  const quick = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'];
  const given = [...role, ...quick, ...args];
  return startServer(binary === undefined ? { args: given } : { args: given, binary });
}

export class TestReplicas implements AsyncDisposable {
  /** The server that was started as the primary. */
  readonly primary: TestServer;
  readonly replicas: readonly TestReplica[];
  #leader: TestServer;
  #followers: readonly TestReplica[];

  constructor(primary: TestServer, replicas: readonly TestReplica[]) {
    this.primary = primary;
    this.replicas = replicas;
    this.#leader = primary;
    this.#followers = replicas;
  }

  get servers(): readonly TestServer[] {
    return [this.primary, ...this.replicas.map(({ server }) => server)];
  }

  /** Resolves when every replica has what its primary has now. */
  async whenInSync(): Promise<void> {
    const count = this.#followers.length;
    const bounds = { withinMs: IN_SYNC_WITHIN_MS, everyMs: POLL_MS };
    const leader = await eventually(async () => {
      const info = await infoOf(this.#leader, 'replication');
      const online = [...(info ?? [])].filter(
        ([name, text]) => /^slave\d+$/.test(name) && /state=online/.test(text),
      );
      return info !== undefined && online.length >= count && info;
    }, bounds);
    const offset = Number((leader as Map<string, string>).get('master_repl_offset'));
    await Promise.all(
      this.#followers.map(({ server }) =>
        eventually(async () => {
          const info = await infoOf(server, 'replication');
          return info?.get('master_link_status') === 'up' && Number(info.get('slave_repl_offset')) >= offset;
        }, bounds),
      ),
    );
  }

  /** Makes a replica a primary; resolves to it when it is one, and those that are to follow it do. */
  async promote(index: number, options: PromoteOptions = {}): Promise<TestServer> {
    const promoted = this.replicas[index];
    if (promoted === undefined) throw new Error(`There is no replica ${index}`);
    await promoted.server.command('REPLICAOF', 'NO', 'ONE');
    this.#leader = promoted.server;
    const others = this.replicas.filter((replica) => replica !== promoted);
    this.#followers = options.repoint === true ? others : [];
    await Promise.all(this.#followers.map((replica) => replica.follow(promoted.server)));
    await this.whenInSync();
    return promoted.server;
  }

  async close(): Promise<void> {
    await closeAll([this.primary, ...this.replicas]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Starts a primary and its replicas; resolves when they are in sync. */
export async function startReplicas(options: ReplicasOptions = {}): Promise<TestReplicas> {
  const { replicas: count = 2 } = options;
  const primary = await startOne(options, []);
  return orClose(primary, async () => {
    const starts = Array.from({ length: count }, () => startReplica(primary, options));
    const group = new TestReplicas(primary, await startTogether(starts));
    await orClose(group, () => group.whenInSync());
    return group;
  });
}
