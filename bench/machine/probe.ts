/**
 * Measures the bare pair again and again during the whole run, always in the same process with the same server. When
 * its speed changes, the machine has changed, and not what is measured.
 */
import { bareIoredis } from '../contestants/bare-pair.ts';
import type { Player } from '../players/player.ts';
import type { RunAnswer } from '../players/protocol.ts';
import { sum } from '../statistics.ts';
import { ONE_CORE, Stage } from './stage.ts';

const PROBE_MS = 100;
const WARM_UP_MS = 1_000;

export class Probe {
  readonly #stage: Stage;
  readonly #player: Player;

  private constructor(stage: Stage, player: Player) {
    this.#stage = stage;
    this.#player = player;
  }

  static async start(): Promise<Probe> {
    const stage = await Stage.open();
    const probe = new Probe(stage, await stage.enter(bareIoredis, ONE_CORE));
    await probe.measure(WARM_UP_MS);
    return probe;
  }

  get pids(): readonly number[] {
    return this.#stage.pids;
  }

  /** Cycles a second. */
  async measure(ms = PROBE_MS): Promise<number> {
    const { cycles, elapsedMs } = await this.#player.order<RunAnswer>({
      op: 'run',
      tasks: 1,
      keys: 'one',
      prefix: 'probe',
      inside: 'nothing',
      ms,
    });
    return sum(cycles) / (elapsedMs / 1_000);
  }

  close(): Promise<void> {
    return this.#stage.close();
  }
}
