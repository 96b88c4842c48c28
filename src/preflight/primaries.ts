/**
 * Every primary there is, and how each of them is asked what it is.
 *
 * A script with a key goes to the server that has its slot, on the connection that is there. That needs a key in
 * a slot of each; where none is found, or the user may not name it, a connection is opened for the question.
 */

import type { Clock } from '../clock.ts';
import type { Driver } from '../drivers/driver.ts';
import { classify } from '../outcome.ts';
import type { WakeChannels } from '../runtime/wake-channels.ts';
import { inspectServer } from '../scripts/generated.ts';
import { type Publishing, readFacts, type ServerFacts, type ServerReply } from './server-facts.ts';

export interface PrimariesSettings {
  readonly driver: Driver;
  readonly clock: Clock;
  readonly channels: WakeChannels;
  /** A key of ours in the slot of the given text. */
  keyFor(text: string): string;
}

/** Nobody listens there, and it is in the pattern of all channels. */
const CHANNEL = 'redisson_holdfast';

/** A primary has a slot among that many, unless it has very few. */
const TRIED_SLOTS = 2_000;

type Runner = Pick<Driver, 'eval' | 'evalSha'>;

export class Primaries {
  readonly #settings: PrimariesSettings;
  /** Text that falls into a slot of the node. */
  readonly #tags = new Map<string, string>();

  constructor(settings: PrimariesSettings) {
    this.#settings = settings;
  }

  /** Those that are known at present. */
  nodes(): readonly string[] {
    return this.#settings.driver.nodes();
  }

  /** Those there are; a Cluster client knows none of them before its first answer. */
  async find(): Promise<readonly string[]> {
    const { driver } = this.#settings;
    if (driver.topology === 'cluster' && this.nodes().includes('')) await this.#ask('', '');
    return this.nodes();
  }

  /** Asks one of them; `thoroughly` also whether it takes messages. */
  async ask(node: string, thoroughly: boolean): Promise<ServerFacts> {
    const { clock, channels } = this.#settings;
    // Where no slot is known, no sharded channel can be named.
    const command = node === '' || this.#tagFor(node) === undefined ? 'PUBLISH' : channels.publish;
    const tried = thoroughly ? command : '';
    // The only use of the wall clock: people compare it with that of the server.
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
    const run = (runner: Runner, slot: readonly string[]) => inspectServer.run(runner, { slot }, message);
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
      return await run(
        {
          eval: (source, _keys, args) => connection.send(['EVAL', source, '0', ...args]),
          evalSha: (sha1, _keys, args) => connection.send(['EVALSHA', sha1, '0', ...args]),
        },
        [],
      );
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
