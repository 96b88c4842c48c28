/**
 * The marker of `run --once`: a key that says that the command has succeeded.
 *
 * It is read under the lock, before the command starts, and written under the lock, after the command has exited with 0.
 * A command that fails, is killed, or loses the lock leaves no marker and runs again next time: at least once until it
 * succeeds, and never again while the marker lasts.
 *
 * The name of the lock is part of the key: under another lock the command could run at the same time.
 */
import { onceKey } from '../../keys.ts';
import type { Server } from '../server.ts';

/** Who ran the command. */
export interface OnceRecord {
  readonly label: string;
  /** ISO 8601. */
  readonly at: string;
}

export class OnceMarker {
  readonly #server: Server;
  readonly #key: string;

  /**
   * @param lockName with the key prefix
   * @param marker what the user calls it
   */
  constructor(server: Server, lockName: string, marker: string) {
    this.#server = server;
    this.#key = onceKey(lockName, marker);
  }

  /** Null if the command is still to be run. */
  async read(): Promise<OnceRecord | null> {
    const text = await this.#server.command(this.#key, 'GET', this.#key);
    if (typeof text !== 'string') return null;
    try {
      const { label, at } = JSON.parse(text) as Record<string, unknown>;
      return { label: String(label), at: String(at) };
    } catch {
      // The key is what counts; its text is for people.
      return { label: 'unknown', at: 'unknown' };
    }
  }

  /** @param keepMs how long the marker lasts; without it, the marker does not expire */
  async write(record: OnceRecord, keepMs?: number): Promise<void> {
    const expiry = keepMs === undefined ? [] : ['PX', String(keepMs)];
    await this.#server.command(this.#key, 'SET', this.#key, JSON.stringify(record), ...expiry);
  }
}
