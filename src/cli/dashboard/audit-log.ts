/**
 * The audit log of the dashboard: a line of JSON for every attempt to free a holder, only for the user to read.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import type { AuditEntry } from '../../dashboard/protocol.ts';
import { messageOf, UsageError } from '../failure.ts';

export class AuditLog implements Disposable {
  readonly #file: number;

  /** Appends to the file, or creates it. @throws UsageError */
  constructor(path: string) {
    try {
      this.#file = openSync(path, 'a', 0o600);
    } catch (error) {
      throw new UsageError(`--audit-log: ${messageOf(error)}`);
    }
  }

  /** Returns when the entry is on the disk. */
  write(entry: AuditEntry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
    fsyncSync(this.#file);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
