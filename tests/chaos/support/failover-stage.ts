/**
 * A primary whose last writes never reach its replica, an address that clients know it by, and what happens to it.
 */
import { readdir, stat, truncate } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { ClientOptions, Holdfast, Lock } from '../../../src/index.ts';
import { lockChannel } from '../../../src/keys.ts';
import type { TestServer } from '../../../src/testing/index.ts';
import { type Address, type Place, startAddress } from '../../harness/address.ts';
import type { TestReplicas } from '../../harness/replicas.ts';
import { ownReplicas } from '../../harness/topologies.ts';
import { eventually } from '../../harness/wait.ts';
import { whenAcknowledging } from './acknowledging.ts';
import { join } from './arena.ts';

/** Short, since every stranger waits for one; leases are no longer. */
export const GRACE_MS = 3_000;

export const GUARDED: ClientOptions = {
  guard: { graceMs: GRACE_MS },
  watchdogMs: 3_000,
  commandTimeoutMs: 1_000,
  // Whether replicas have it is what is left to chance here.
  replicas: 0,
};

export const UNGUARDED: ClientOptions = { ...GUARDED, guard: false };

export interface Mode {
  readonly mode: string;
  /** How many replicas have to be there for anything to be granted. */
  readonly needs: number;
  readonly options: ClientOptions;
}

/** Renewed so seldom that a holder does not learn of what happened before somebody else is in. */
function unguarded(replicas: 0 | 1 | 'auto'): Mode {
  const times = { watchdogMs: 30_000, replicaTimeoutMs: 1_500, commandTimeoutMs: 4_000 };
  return {
    mode: `replicas: ${replicas}`,
    needs: replicas === 1 ? 1 : 0,
    options: { ...UNGUARDED, ...times, replicas },
  };
}

/** What is asked of replicas unless a client says otherwise. */
export const BY_DEFAULT = unguarded('auto');

/** What asks a replica that is connected. */
export const ACKNOWLEDGED_MODES: readonly Mode[] = [BY_DEFAULT, unguarded(1)];

/** What may be asked of replicas where there is no guard. */
export const UNGUARDED_MODES: readonly Mode[] = [unguarded(0), ...ACKNOWLEDGED_MODES];

/** The same, and the guard, which asks nothing of replicas. */
export const MODES: readonly Mode[] = [
  ...UNGUARDED_MODES,
  { mode: 'guard', needs: 0, options: { ...unguarded(0).options, guard: true } },
];

/** An address that stays while the server behind it changes; closed when the test ends. */
export async function address(first: Place): Promise<Address> {
  const started = await startAddress(first);
  onTestFinished(() => started.proxy.close());
  return started;
}

export class Stage {
  readonly #set: TestReplicas;
  readonly #address: Address;

  constructor(set: TestReplicas, way: Address) {
    this.#set = set;
    this.#address = way;
  }

  /** A client that knows the address only. */
  client(options: ClientOptions): Promise<Holdfast> {
    return join('Holdfast.connect', this.#address.proxy, options);
  }

  /** A client that knows the first primary only, and is not led to another. */
  loyalClient(options: ClientOptions): Promise<Holdfast> {
    return join('Holdfast.connect', this.primary, options);
  }

  get promoted(): TestServer {
    const [replica] = this.#set.replicas;
    if (replica === undefined) throw new Error('there is no replica');
    return replica.server;
  }

  get primary(): TestServer {
    return this.#set.primary;
  }

  whenInSync(): Promise<void> {
    return this.#set.whenInSync();
  }

  /** The hash that the promoted server has. */
  async fieldsOf(name: string): Promise<Record<string, string>> {
    const answer = (await this.promoted.command('HGETALL', name)) as string[];
    const fields: Record<string, string> = {};
    for (let at = 0; at < answer.length; at += 2) fields[String(answer[at])] = String(answer[at + 1]);
    return fields;
  }

  /** From here on the replica that is going to be promoted hears and is heard this much later. */
  delayReplication(delayMs: number): void {
    this.#set.replicas[0]?.link.delay(delayMs);
  }

  /** What is written from here on, or still under way, never reaches the replica that is going to be promoted. */
  cutReplication(): void {
    this.#set.replicas[0]?.link.blackhole();
  }

  /** What is written from here on reaches no replica. */
  cutAllReplication(): void {
    for (const { link } of this.#set.replicas) link.blackhole();
  }

  /** The primary is gone, the first replica takes its place, and the others follow that one. */
  async failOver(): Promise<void> {
    await this.primary.kill();
    await this.#set.promote(0, { repoint: true });
    const followers = this.#set.replicas.length - 1;
    if (followers > 0) await whenAcknowledging(this.promoted, followers);
    this.#address.lead(this.promoted);
  }
}

export async function stage(replicas = 1): Promise<Stage> {
  const set = await ownReplicas({ replicas, proxied: true });
  const staged = new Stage(set, await address(set.primary));
  await settle(set.primary);
  return staged;
}

/** Has a server that was just started judged as one that has run for long, and cannot have forgotten a hold. */
export async function settle(server: TestServer): Promise<void> {
  const info = String(await server.command('INFO', 'replication'));
  const id = /master_replid:(\w+)/.exec(info)?.[1] ?? '';
  await server.command('SET', 'holdfast_guard', `master_replid:${id}`);
}

/** A server that is restarted by the test, behind an address; not replicated unless told otherwise. */
export async function restartStage(
  args: readonly string[],
  replicas = 0,
): Promise<{ server: TestServer; way: Address }> {
  const { primary: server } = await ownReplicas({ replicas, args });
  const way = await address(server);
  await settle(server);
  await whenAcknowledging(server, replicas);
  return { server, way };
}

/** The arguments of a server that logs every write before it answers. */
export const APPENDING = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'] as const;

/** How long the log was that each server wrote. */
const logs = new WeakMap<TestServer, { readonly file: string; readonly bytes: number }>();

/** Notes how much of the log is written: what follows is the tail. */
export async function rememberLog(server: TestServer): Promise<void> {
  const entries = await readdir(server.dir, { recursive: true });
  // Since version 7 there are several: what is written now goes to the one with the newest increments.
  const name = entries
    .filter((entry) => entry.endsWith('.aof') && !entry.includes('.base.'))
    .sort()
    .at(-1);
  if (name === undefined) throw new Error(`There is no log in ${server.dir}`);
  const file = joinPath(server.dir, name);
  logs.set(server, { file, bytes: (await stat(file)).size });
}

/** A few bytes of the first write since then are all that is left of the tail, as after a crash. */
export async function restartWithCutLog(server: TestServer): Promise<void> {
  const log = logs.get(server);
  if (log === undefined) throw new Error('The log was not remembered');
  await server.kill();
  expect((await stat(log.file)).size).toBeGreaterThan(log.bytes + 10);
  await truncate(log.file, log.bytes + 10);
  await server.restart();
}

/**
 * Resolves when one listens to the releases of a lock, on one of the servers that pass them on: a replica of a Cluster
 * takes sharded subscriptions too, and is sent what its primary publishes.
 */
export async function whenHeardAt(servers: TestServer | readonly TestServer[], name: string): Promise<void> {
  const channel = lockChannel(name);
  const listening = [servers]
    .flat()
    .flatMap((server) => [
      () => server.command('PUBSUB', 'NUMSUB', channel),
      () => server.command('PUBSUB', 'SHARDNUMSUB', channel),
    ]);
  await eventually(
    async () => {
      const answers = (await Promise.all(listening.map((count) => count()))) as unknown[][];
      expect(
        answers.reduce((sum, [, count]) => sum + Number(count), 0),
        name,
      ).toBe(1);
    },
    { withinMs: 30_000 },
  );
}

/** Takes it, and says if that cannot be had at once. */
export async function take(lock: Lock) {
  const hold = await lock.tryLock();
  expect(hold, 'nobody has the lock').not.toBeNull();
  if (hold === null) throw new Error('not held');
  return hold;
}
