/**
 * A screen that is drawn anew again and again, as `top` does: on the terminal's alternate screen, so that what was there
 * before comes back at the end. Leaves the keyboard to the caller.
 */

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const ERASE_TO_END_OF_LINE = '\x1b[K';
const ERASE_BELOW = '\x1b[J';

export class LiveScreen implements Disposable {
  readonly #stream: NodeJS.WriteStream;
  readonly #restore = () => this[Symbol.dispose]();
  #isOpen = true;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    stream.write(ENTER);
    // However the process ends, but for KILL, the terminal is as it was.
    process.on('exit', this.#restore);
  }

  get columns(): number {
    return this.#stream.columns > 0 ? this.#stream.columns : 80;
  }

  get rows(): number {
    return this.#stream.rows > 0 ? this.#stream.rows : 24;
  }

  /** Replaces what is shown. The lines have to fit. */
  draw(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    const shown = lines.slice(0, this.rows).map((line) => line + ERASE_TO_END_OF_LINE);
    this.#stream.write(HOME + shown.join('\r\n') + ERASE_BELOW);
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.off('exit', this.#restore);
    this.#stream.write(LEAVE);
  }
}
