/**
 * Finds all primaries, and asks each of them for its properties.
 *
 * A script with a key runs on the server of its slot, on the existing connection. That needs a key in a slot of each
 * primary. If none is found, or the ACL forbids the key, a dedicated connection is opened.
 */

import type { Clock } from '../clock.ts';
import type { Driver } from '../drivers/driver.ts';
import { classify } from '../outcome.ts';
import type { WakeChannels } from '../runtime/wake/channels.ts';
import { inspectServer } from '../scripts/generated.ts';
import type { ScriptRunner } from '../scripts/script.ts';
import { type Publishing, readFacts, type ServerFacts, type ServerReply } from './server-facts.ts';

export interface PrimariesSettings {
  readonly driver: Driver;
  readonly clock: Clock;
  readonly channels: WakeChannels;
  /** A holdfast key in the slot of the given text. */
  keyFor(text: string): string;
}

/** Has no subscribers, and matches the pattern of all holdfast channels. */
const CHANNEL = 'redisson_holdfast';

/** Enough to find a slot of each primary, unless it has very few. */
const TRIED_SLOTS = 2_000;

export class Primaries {
  readonly #settings: PrimariesSettings;
  /** A text that hashes to a slot of the node. */
  readonly #tags = new Map<string, string>();

  constructor(settings: PrimariesSettings) {
    this.#settings = settings;
  }

  /** The primaries known now. */
  nodes(): readonly string[] {
    return this.#settings.driver.nodes();
  }

  /** All primaries. A Cluster client knows none of them before its first answer. */
  async find(): Promise<readonly string[]> {
    const { driver } = this.#settings;
    if (driver.topology === 'cluster' && this.nodes().includes('')) await this.#ask('', '');
    return this.nodes();
  }

  /** Asks one primary; `thoroughly` also tries to publish. */
  async ask(node: string, thoroughly: boolean): Promise<ServerFacts> {
    const { clock, channels } = this.#settings;
    // Without a known slot, no sharded channel can be named.
    const command = node === '' || this.#tagFor(node) === undefined ? 'PUBLISH' : channels.publish;
    const tried = thoroughly ? command : '';
    // The only use of the wall clock: to compare it with the server's.
    const sentAtWallMs = Date.now();
    const sentAt = clock.now();
    const reply = await this.#ask(node, tried);
    const trip = { sentAtWallMs, answeredAtWallMs: Date.now(), latencyMs: clock.now() - sentAt };
    return readFacts(node, reply, trip, tried);
  }

  async #ask(node: string, publish: Publishing): Promise<ServerReply> {
    const { driver, keyFor } = this.#settings;
    const tag = node === '' ? undefined : this.#tagFor(node);
    const message = { publish, channel: tag === undefined ? CHANNEL : `${CHANNEL}:{${tag}}` };
    const run = (runner: ScriptRunner, slot: readonly string[]) =>
      inspectServer.run(runner, { slot }, message);
    if (node === '') return run(driver, []);
    if (tag !== undefined) {
      try {
        return await run(driver, [keyFor(tag)]);
      } catch (error) {
        if (classify(error) !== 'refused') throw error;
      }
    }
    const connection = await driver.openConnection(node, { onMessage() {}, onDown() {} });
    try {
      return await run({ script: (command) => connection.send(command) }, []);
    } finally {
      connection.destroy();
    }
  }

  #tagFor(node: string): string | undefined {
    const { driver } = this.#settings;
    const known = this.#tags.get(node);
    if (known !== undefined && driver.nodeOf(known) === node) return known;
    this.#tags.delete(node);
    for (let number = 0; number < TRIED_SLOTS; number += 1) {
      const tag = String(number);
      if (driver.nodeOf(tag) !== node) continue;
      this.#tags.set(node, tag);
      return tag;
    }
    return undefined;
  }
}
