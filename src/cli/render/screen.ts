/**
 * The demo's terminal output: permanent lines, and one live line at the bottom that changes.
 *
 * Without a terminal there are only the permanent lines.
 */
import { stripVTControlCharacters } from 'node:util';
import { type Paint, painter, widthOf } from './style.ts';

const ERASE_LINE = '\r\x1b[2K';

export class Screen {
  readonly paint: Paint;
  readonly #stream: NodeJS.WriteStream;
  readonly #canRewrite: boolean;
  #hasLive = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.paint = painter(stream);
    const { TERM } = process.env;
    this.#canRewrite = stream.isTTY === true && TERM !== 'dumb';
  }

  /** Writes a permanent line. */
  line(text = ''): void {
    this.#stream.write(`${this.#erase()}${text}\n`);
  }

  /** Replaces the live line, on a terminal. */
  live(text: string): void {
    if (!this.#canRewrite) return;
    this.#stream.write(this.#erase() + this.#fitted(text));
    this.#hasLive = true;
  }

  /** Removes the live line. */
  clear(): void {
    this.#stream.write(this.#erase());
  }

  #erase(): string {
    const text = this.#hasLive ? ERASE_LINE : '';
    this.#hasLive = false;
    return text;
  }

  /** A live line that wraps could not be erased. */
  #fitted(text: string): string {
    const columns = this.#stream.columns > 0 ? this.#stream.columns : 80;
    if (widthOf(text) < columns) return text;
    const characters = Array.from(stripVTControlCharacters(text));
    return characters.slice(0, columns - 1).join('');
  }
}
