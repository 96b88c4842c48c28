/** A worker's side of the conversation with the witness: one answer for each question, in order. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Answer, Question } from './service.ts';

export class WitnessClient {
  readonly #socket: Socket;
  readonly #waiting: ((answer: Answer) => void)[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    createInterface({ input: socket }).on('line', (line) =>
      this.#waiting.shift()?.(JSON.parse(line) as Answer),
    );
  }

  static async connect(path: string): Promise<WitnessClient> {
    const socket = connect(path);
    await once(socket, 'connect');
    return new WitnessClient(socket);
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#socket.write(`${JSON.stringify(question)}\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
