/** What a run shows while it runs: a line for each storm, and on a terminal the storm under way. */
import type { Cell } from './plan.ts';
import type { StormProgress, StormResult } from './storm.ts';

const CLEAR_LINE = '\r\u001b[2K';

export class Progress {
  readonly #total: number;
  readonly #isTerminal = process.stdout.isTTY === true;
  #done = 0;
  #operations = 0;
  #violations = 0;

  constructor(total: number) {
    this.#total = total;
  }

  say(text: string): void {
    process.stdout.write(`${this.#isTerminal ? CLEAR_LINE : ''}${text}\n`);
  }

  /** Shows on a terminal what is under way. */
  now(text: string): void {
    if (this.#isTerminal) process.stdout.write(`${CLEAR_LINE}${text}`);
  }

  during(cell: Cell, { operations, faults }: StormProgress): void {
    const soFar = `${(this.#operations + operations).toLocaleString('en')} operations`;
    this.now(`${this.#place()} ${cell.name}  ${soFar}, ${faults} faults, ${this.#violations} violations`);
  }

  after({ cell, verdict, broken, exempt, faults, tookMs }: StormResult): void {
    this.#done += 1;
    this.#operations += verdict.figures.operations;
    this.#violations += broken.length;
    const parts = [
      `${verdict.figures.operations.toLocaleString('en')} operations`,
      `${faults.length} faults`,
      `${broken.length} violations`,
      ...(exempt.length > 0 ? [`${exempt.length} where none is promised`] : []),
      `${(tookMs / 1_000).toFixed(1)} s`,
    ];
    const mark = broken.length === 0 ? 'ok ' : 'BAD';
    this.say(`${this.#place()} ${mark} ${cell.name.padEnd(52)} ${parts.join(', ')}`);
  }

  #place(): string {
    return `[${String(this.#done).padStart(String(this.#total).length)}/${this.#total}]`;
  }
}
