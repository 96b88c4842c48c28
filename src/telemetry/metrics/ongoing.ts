/** What is under way now: how many calls wait, or how many holds there are, and since when the oldest one. */
import type { Labels } from './groups.ts';

/** The calls or holds with the same labels. */
export interface OngoingFigures {
  readonly labels: Labels;
  readonly count: number;
  /** The age of the oldest, 0 if there is none. */
  readonly oldestSeconds: number;
}

export class Ongoing<Message extends object> {
  readonly #labels = new Map<Message, Labels>();
  /** When each began, the oldest first. */
  readonly #begun = new Map<Labels, Map<Message, number>>();

  begin(message: Message, labels: Labels): void {
    let begun = this.#begun.get(labels);
    if (begun === undefined) {
      begun = new Map();
      this.#begun.set(labels, begun);
    }
    begun.set(message, performance.now());
    this.#labels.set(message, labels);
  }

  /** The labels it began with; undefined if it began before anyone listened. */
  end(message: Message): Labels | undefined {
    const labels = this.#labels.get(message);
    if (labels === undefined) return undefined;
    this.#labels.delete(message);
    this.#begun.get(labels)?.delete(message);
    return labels;
  }

  /** Also of labels with nothing under way any more: a gauge that vanishes looks like a process that died. */
  *figures(): Generator<OngoingFigures> {
    const now = performance.now();
    for (const [labels, begun] of this.#begun) {
      const [oldest = now] = begun.values();
      yield { labels, count: begun.size, oldestSeconds: (now - oldest) / 1000 };
    }
  }

  clear(): void {
    this.#labels.clear();
    this.#begun.clear();
  }
}
