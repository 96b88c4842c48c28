/**
 * Remembers what a client did once for a name, such as a warning. Programs that get a semaphore for each call make many
 * objects of one name, and programs with a name for each user have many names: only the latest are remembered.
 */
const MOST = 10_000;

export class OncePerName {
  readonly #notes = new Set<string>();

  has(note: string): boolean {
    return this.#notes.has(note);
  }

  /** Returns whether the note is new. */
  add(note: string): boolean {
    if (this.#notes.has(note)) return false;
    if (this.#notes.size >= MOST) {
      for (const oldest of this.#notes) {
        this.#notes.delete(oldest);
        break;
      }
    }
    this.#notes.add(note);
    return true;
  }

  delete(note: string): void {
    this.#notes.delete(note);
  }
}
