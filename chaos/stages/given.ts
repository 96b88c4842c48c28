/**
 * A server that was there before: the user's. Only the links to it and the workers suffer; the server itself is used
 * as any client uses it, and left as it was.
 */
import { isIP } from 'node:net';
import {
  type FaultProxy,
  type RawArgument,
  RawConnection,
  type RawReply,
  startFaultProxy,
} from '../../src/testing/index.ts';
import type { Stage } from '../fault.ts';

const DEFAULT_PORT = 6379;

export interface GivenServer {
  readonly host: string;
  readonly port: number;
}

/** @throws Error that says what to write instead */
export function parseServerUrl(url: string): GivenServer {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  if (protocol !== 'redis:') throw new Error(`The storms speak plain redis://, not ${protocol}//`);
  if (username !== '' || password !== '') {
    throw new Error('The storms do not log in: use a server without a password');
  }
  if (pathname !== '' && pathname !== '/' && pathname !== '/0') {
    throw new Error('The storms use database 0: leave the number out');
  }
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? DEFAULT_PORT : Number(port) };
}

/** Whether an address is this machine's by its form; names other than localhost may be anything. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

interface Findings {
  readonly keys: number;
  readonly replicas: number;
}

/** Why a server is not touched without being told to; undefined when it may be. */
export function reasonToSpare({ host }: GivenServer, { keys, replicas }: Findings): string | undefined {
  if (!isLoopback(host)) return `${host} is not this machine`;
  if (keys > 0) return `the server holds ${keys} keys`;
  return replicas > 0 ? `the server has ${replicas} replicas` : undefined;
}

/**
 * Puts a proxy before the server.
 *
 * @param touch the host once more: its owner means it
 */
export async function startGiven(url: string, touch: string | undefined): Promise<Stage> {
  const server = parseServerUrl(url);
  const { host, port } = server;
  const connection = await RawConnection.connect(host, port);
  const info = String(await connection.command('INFO', 'replication'));
  const replicas = Number(/^connected_slaves:(\d+)/m.exec(info)?.[1] ?? 0);
  const reason = reasonToSpare(server, { keys: Number(await connection.command('DBSIZE')), replicas });
  if (reason !== undefined && touch !== host) {
    await connection.close();
    throw new Error(`The storms were not started: ${reason}. To run them all the same, add --touch ${host}`);
  }
  return new GivenStage(connection, await startFaultProxy(server));
}

/** A server that can be asked; whether it can be killed is another matter. */
export interface Reachable {
  command(...args: [RawArgument, ...RawArgument[]]): Promise<RawReply>;
}

/** The servers that hold what workers have written. */
export async function reachableOf(stage: Stage): Promise<readonly Reachable[]> {
  return stage instanceof GivenStage ? [stage.connection] : stage.primaries();
}

class GivenStage implements Stage {
  readonly name = 'given';
  readonly servers = [];
  readonly links: readonly FaultProxy[];
  readonly connection: RawConnection;

  constructor(connection: RawConnection, proxy: FaultProxy) {
    this.connection = connection;
    this.links = [proxy];
  }

  get target() {
    const [{ host, port }] = this.links as [FaultProxy];
    return { kind: 'server', host, port } as const;
  }

  /** There is none to strike. */
  async primaries(): Promise<[]> {
    return [];
  }

  async heal(): Promise<void> {
    for (const link of this.links) await link.heal();
  }

  async close(): Promise<void> {
    for (const link of this.links) await link.close();
    await this.connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
