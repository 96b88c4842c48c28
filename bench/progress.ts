/**
 * Says what is being measured, what came out, and how long it may still take.
 */
import type { Contestant } from './contestants/contestant.ts';
import { formatFigure } from './report/format.ts';
import type { Measurement } from './results.ts';
import type { Workload } from './workloads/workload.ts';

export class Progress {
  readonly #total: number;
  readonly #startedAt = performance.now();
  #done = 0;

  constructor(total: number) {
    this.#total = total;
  }

  measured(workload: Workload, contestant: Contestant, measurement: Measurement): void {
    const [column] = workload.columns;
    const { figures, tries, isDisturbed } = measurement;
    const again = tries > 1 ? `, ${tries} tries` : '';
    const disturbed = isDisturbed ? ', disturbed' : '';
    this.#say(workload, contestant, `${formatFigure(figures[column.figure], column)}${again}${disturbed}`);
  }

  failed(workload: Workload, contestant: Contestant, why: string): void {
    this.#say(workload, contestant, why);
  }

  #say(workload: Workload, contestant: Contestant, text: string): void {
    this.#done += 1;
    const elapsed = performance.now() - this.#startedAt;
    const leftMin = ((elapsed / this.#done) * (this.#total - this.#done)) / 60_000;
    const position = `${String(this.#done).padStart(String(this.#total).length)}/${this.#total}`;
    process.stdout.write(
      `${position}  ${workload.id.padEnd(10)}  ${contestant.title.padEnd(24)}  ${text}  (${leftMin.toFixed(1)} min left)\n`,
    );
  }
}
