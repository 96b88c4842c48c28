/**
 * What one measurement takes place on: a fresh server and fresh processes, all of which end with it.
 */
import { startServer, type TestServer } from '../../src/testing/index.ts';
import type { Contestant } from '../contestants/contestant.ts';
import type { Player } from '../players/player.ts';
import { startPlayer } from '../players/start.ts';
import { type Core, pin } from './pin.ts';

/** Where the two sides run; not tied to a core when absent. */
export interface Cores {
  readonly server: Core;
  readonly client: Core;
}

export const ONE_CORE: Cores = { server: 0, client: 0 };
export const A_CORE_EACH: Cores = { server: 1, client: 0 };

export class Stage {
  readonly server: TestServer;
  readonly #players: Player[] = [];

  private constructor(server: TestServer) {
    this.server = server;
  }

  static async open(): Promise<Stage> {
    return new Stage(await startServer());
  }

  /** The processes that belong to this measurement. */
  get pids(): readonly number[] {
    return [this.server.pid, ...this.#players.map(({ pid }) => pid)];
  }

  /** Starts a process of a contestant. A JVM has many threads and is never tied to a core. */
  async enter(contestant: Contestant, cores?: Cores): Promise<Player> {
    pin(this.server.pid, cores?.server);
    const player = await startPlayer(contestant, this.server.url);
    this.#players.push(player);
    if (contestant.runtime !== 'jvm') pin(player.pid, cores?.client);
    return player;
  }

  /** User and system time of the server. */
  async serverCpuUs(): Promise<number> {
    const info = String(await this.server.command('INFO', 'cpu'));
    const seconds = (field: string) => Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)?.[1]);
    return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1e6;
  }

  async close(): Promise<void> {
    await Promise.all(this.#players.map((player) => player.kill()));
    await this.server.close();
  }
}
