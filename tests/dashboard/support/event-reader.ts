/** Reads the stream of a dashboard as its page does, and keeps what it said. */
import type { LockRow, StreamEvents } from '../../../src/dashboard/protocol.ts';
import { eventually } from '../../harness/wait.ts';

type Named = { [Name in keyof StreamEvents]: { readonly name: Name; readonly data: StreamEvents[Name] } };
export type ReadEvent = Named[keyof StreamEvents];

function parsed(block: string): ReadEvent | undefined {
  const name = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: ([^\n]*)/m.exec(block)?.[1];
  if (name === undefined || data === undefined) return undefined;
  return { name, data: JSON.parse(data) } as ReadEvent;
}

export class EventReader {
  readonly events: ReadEvent[] = [];
  /** The list as the page has it. */
  readonly rows = new Map<string, LockRow>();
  /** How it ended: `end`, or the error. */
  readonly ended: Promise<unknown>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(response: Response) {
    if (response.body === null || response.status !== 200) throw new Error(`No stream: ${response.status}`);
    this.#reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    this.ended = this.#read().then(
      () => 'end',
      (error: unknown) => error,
    );
  }

  /** Ends the stream from the reader's side. */
  close(): Promise<void> {
    return this.#reader.cancel();
  }

  /** All events of a name, so far. */
  all<Name extends keyof StreamEvents>(name: Name): StreamEvents[Name][] {
    return this.events.flatMap((event) => (event.name === name ? [event.data as StreamEvents[Name]] : []));
  }

  /** The first event of a name that fits. */
  next<Name extends keyof StreamEvents>(
    name: Name,
    fits: (data: StreamEvents[Name]) => boolean = () => true,
    withinMs = 10_000,
  ): Promise<StreamEvents[Name]> {
    return eventually(() => this.all(name).find(fits) ?? false, { withinMs }) as Promise<StreamEvents[Name]>;
  }

  /** The row of a key, once it fits. */
  row(key: string, fits: (row: LockRow) => boolean = () => true): Promise<LockRow> {
    const found = () => {
      const row = this.rows.get(key);
      return row !== undefined && fits(row) ? row : false;
    };
    return eventually(found, { withinMs: 10_000 }) as Promise<LockRow>;
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.#take(parsed(block));
    }
  }

  #take(event: ReadEvent | undefined): void {
    if (event === undefined) return;
    this.events.push(event);
    if (event.name !== 'locks') return;
    const { whole, changed, gone } = event.data;
    if (whole) this.rows.clear();
    for (const row of changed) this.rows.set(row.key, row);
    for (const key of gone) this.rows.delete(key);
  }
}
