/**
 * Carries out `acquire` and `release` orders: one hold at a time that ends when it is told to.
 */
import type { Connection, Use } from '../contestants/contestant.ts';
import type { HandoverAnswer } from './protocol.ts';

function nowUs(): number {
  return Number(process.hrtime.bigint()) / 1_000;
}

export class Handover {
  readonly #connection: Connection;
  readonly #locks = new Map<string, Use>();
  #release: () => void = () => {};
  #released: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async acquire(key: string): Promise<HandoverAnswer> {
    // The release was only begun when it was answered.
    await this.#released;
    // One handle for all rounds, as a program would keep it.
    const use = this.#locks.get(key) ?? this.#connection.lock(key);
    this.#locks.set(key, use);
    return new Promise((resolve, reject) => {
      const section = () =>
        new Promise<void>((release) => {
          resolve({ atUs: nowUs() });
          this.#release = release;
        });
      this.#released = use(section);
      this.#released.catch(reject);
    });
  }

  release(): HandoverAnswer {
    const atUs = nowUs();
    this.#release();
    return { atUs };
  }
}
