/**
 * A primary whose last writes never reach its replica, an address that clients know it by, and what happens to it.
 */
import { readdir, stat, truncate } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { expect } from 'vitest';
import type { ClientOptions, Holdfast, Lock } from '../../src/index.ts';
import type { FaultProxy, TestServer } from '../../src/testing/index.ts';
import type { TestReplicas } from '../harness/replicas.ts';
import { ownProxy, ownServer } from '../harness/servers.ts';
import { ownReplicas } from '../harness/topologies.ts';
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

/** An address that stays while the server behind it changes, as those of managed servers do. */
export interface Address {
  readonly proxy: FaultProxy;
  /** From here on it leads new connections there. */
  leadNewTo(to: { readonly host: string; readonly port: number }): void;
  /** The same, and every connection is broken. */
  lead(to: { readonly host: string; readonly port: number }): void;
}

export async function address(first: { readonly host: string; readonly port: number }): Promise<Address> {
  let current = first;
  const proxy = await ownProxy({
    host: first.host,
    get port() {
      return current.port;
    },
  });
  const leadNewTo: Address['leadNewTo'] = (to) => {
    current = to;
  };
  return {
    proxy,
    leadNewTo,
    lead(to) {
      leadNewTo(to);
      proxy.dropConnections();
    },
  };
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

  /** What is written from here on never reaches the replica. */
  cutReplication(): void {
    this.#set.replicas[0]?.link.blackhole();
  }

  /** The primary is gone, the replica takes its place. */
  async failOver(): Promise<void> {
    await this.primary.kill();
    await this.promoted.command('REPLICAOF', 'NO', 'ONE');
    this.#address.lead(this.promoted);
  }
}

export async function stage(): Promise<Stage> {
  const set = await ownReplicas({ replicas: 1, proxied: true });
  const staged = new Stage(set, await address(set.primary));
  await settle(set.primary);
  return staged;
}

/** Has a server that was just started judged as one that has run for long, and cannot have forgotten a hold. */
export async function settle(server: TestServer): Promise<void> {
  const info = String(await server.command('INFO', 'replication'));
  const id = /master_replid:(\w+)/.exec(info)?.[1] ?? '';
  await server.command('SET', 'holdfast_guard', id);
}

/** A server that is not replicated, restarted by the test, behind an address. */
export async function loneStage(args: readonly string[]): Promise<{ server: TestServer; way: Address }> {
  const server = await ownServer({ args });
  const way = await address(server);
  await settle(server);
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

/** Takes it, and says if that cannot be had at once. */
export async function take(lock: Lock) {
  const hold = await lock.tryLock();
  expect(hold, 'nobody has the lock').not.toBeNull();
  if (hold === null) throw new Error('not held');
  return hold;
}
