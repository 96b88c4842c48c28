/**
 * Makes one measurement, and makes it again while something else keeps the machine busy.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from './contestants/contestant.ts';
import { OtherLoad } from './machine/other-load.ts';
import type { Probe } from './machine/probe.ts';
import { Stage } from './machine/stage.ts';
import type { Pace } from './pace.ts';
import type { Measurement } from './results.ts';
import type { Figures, Workload } from './workloads/workload.ts';

/** The bare pair, measured before and after, may differ by so much. */
const PROBE_DIFFERENCE = 0.15;

/** Others may use so much of the machine. */
const OTHER_LOAD = 0.05;

/** No measurement takes as long as this unless a process hangs. */
const WITHIN_MS = 120_000;

export class Referee {
  readonly #probe: Probe | undefined;
  readonly #pace: Pace;
  #lastProbe: number | undefined;

  constructor(probe: Probe | undefined, pace: Pace) {
    this.#probe = probe;
    this.#pace = pace;
  }

  async measure(workload: Workload, contestant: Contestant, repetition: number): Promise<Measurement> {
    for (let tries = 1; ; tries += 1) {
      const { figures, isDisturbed } = await this.#once(workload, contestant);
      if (!isDisturbed || tries > this.#pace.again) return { repetition, figures, tries, isDisturbed };
    }
  }

  async #once(workload: Workload, contestant: Contestant) {
    const before = this.#lastProbe ?? (await this.#probe?.measure());
    const load = new OtherLoad([process.pid, ...(this.#probe?.pids ?? [])]);
    const stage = await Stage.open();
    let figures: Figures;
    let otherLoad: number;
    try {
      figures = await this.#within(workload.measure(stage, contestant, this.#pace));
      otherLoad = load.share(stage.pids);
    } finally {
      await stage.close();
      this.#lastProbe = await this.#probe?.measure();
    }
    const difference = Math.abs((this.#lastProbe ?? 1) / (before ?? 1) - 1);
    return { figures, isDisturbed: difference > PROBE_DIFFERENCE || otherLoad > OTHER_LOAD };
  }

  #within<T>(measuring: Promise<T>): Promise<T> {
    const late = sleep(WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new Error(`not finished within ${WITHIN_MS / 1_000} s`);
    });
    return Promise.race([measuring, late]);
  }
}
