/**
 * The record by which others learn who this client is: its label, host and process id.
 *
 * Written in the background when the client holds something, and kept alive while it does; no call waits for it. Owner
 * fields carry the client's id, so one record serves all its holds, and the keys of locks stay as Redisson knows them.
 * A record that is written again also says since when the client has its oldest holds: those are the ones that people
 * ask about.
 */
import { hostname } from 'node:os';
import type { Clock } from '../clock.ts';
import type { Report } from '../events.ts';
import { clientRecordKey } from '../keys.ts';
import { isForbidden } from '../outcome.ts';
import { clientRecordRemove, clientRecordWrite } from '../scripts/generated.ts';
import type { ScriptRunner } from '../scripts/script.ts';
import type { ClientRecord } from './description.ts';

/** The record is written at most this often, however short the lease is. */
const SHORTEST_PERIOD_MS = 1_000;

/** The record outlives its client by two missed periods. */
const KEPT_PERIODS = 3;

/** The most holds in one record, and the longest key: it stays a few kilobytes. */
const MOST_HOLDS = 100;
const LONGEST_KEY = 200;

/** A younger hold is not worth a word: it is likely to be over before a person reads of it. */
const YOUNGEST_MS = 1_000;

/** A hold, and when the client got it, by its wall clock. */
export type DatedHold = readonly [key: string, owner: string, sinceMs: number];

export interface OwnRecordSettings {
  readonly id: string;
  readonly label: string;
  readonly driver: ScriptRunner;
  readonly clock: Clock;
  readonly watchdogMs: number;
  readonly report: Report;
  /** The holds of this client, the oldest first. */
  holds?(): Iterable<DatedHold>;
}

export class OwnRecord {
  readonly record: ClientRecord;
  readonly #settings: OwnRecordSettings;
  readonly #key: string;
  readonly #periodMs: number;
  #dueAt = Number.NEGATIVE_INFINITY;
  #isWritten = false;

  constructor(settings: OwnRecordSettings) {
    this.#settings = settings;
    this.#key = clientRecordKey(settings.id);
    this.#periodMs = Math.max(SHORTEST_PERIOD_MS, Math.ceil(settings.watchdogMs / 3));
    this.record = { label: settings.label, host: hostname(), pid: process.pid, since: new Date() };
  }

  /** To be called whenever the client holds something: writes the record if it is time to. */
  keep(): void {
    const now = this.#settings.clock.now();
    if (now < this.#dueAt) return;
    this.#dueAt = now + this.#periodMs;
    this.#isWritten = true;
    const keepMs = Math.min(KEPT_PERIODS * this.#periodMs, Number.MAX_SAFE_INTEGER);
    clientRecordWrite
      .run(this.#settings.driver, { client: this.#key }, { record: this.#text(), keepMs })
      .catch((error: unknown) => this.#failed(error));
  }

  /** The client closes. */
  async forget(): Promise<void> {
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (!this.#isWritten) return;
    this.#isWritten = false;
    // A record that cannot be removed expires.
    await clientRecordRemove.run(this.#settings.driver, { client: this.#key }, {}).catch(() => undefined);
  }

  #text(): string {
    const held: DatedHold[] = [];
    const before = Date.now() - YOUNGEST_MS;
    for (const hold of this.#settings.holds?.() ?? []) {
      if (held.length === MOST_HOLDS || hold[2] > before) break;
      if (hold[0].length <= LONGEST_KEY) held.push(hold);
    }
    return JSON.stringify(held.length === 0 ? this.record : { ...this.record, held });
  }

  /** The next period tries again, unless the server forbids it. */
  #failed(error: unknown): void {
    if (!isForbidden(error)) return;
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#isWritten = false;
    this.#settings.report('warning', {
      code: 'HOLDFAST_NO_LABEL',
      message:
        `The server refuses the record that tells who this client is, so that others see its id only: ` +
        `allow keys that start with holdfast_client, and SET. ${(error as Error).message}`,
    });
  }
}
