/**
 * Has replicas acknowledge what was granted, before anybody relies on it.
 *
 * Grants travel on a connection of their own for each server, see `courier.ts`: whatever else the client sends is
 * not delayed.
 */
import type { Driver } from '../drivers/driver.ts';
import { classify } from '../outcome.ts';
import { DriverError } from '../errors.ts';
import { Courier, Sending } from './replicated-connection.ts';
import type { ReplicaCensus } from './replica-census.ts';

export interface AcknowledgementSettings {
  readonly driver: Driver;
  readonly census: ReplicaCensus;
  readonly timeoutMs: number;
  /** Asks the server that has the key how many replicas acknowledge; null when it does not tell. */
  count(key: string): Promise<number | null>;
  /** The server offers no acknowledgements, and those asked for were optional. */
  onUnavailable(why: unknown): void;
}

export class Acknowledgement {
  readonly #settings: AcknowledgementSettings;
  readonly #couriers = new Map<string, Courier>();

  constructor(settings: AcknowledgementSettings) {
    this.#settings = settings;
  }

  /** How many replicas have to acknowledge a grant of this key; a promise when the server has to be asked first. */
  needed(key: string): number | Promise<number> {
    const { driver, census } = this.#settings;
    const { wish } = census;
    const node = driver.nodeOf(key);
    if (typeof wish === 'number' || (wish === 'auto' && census.isRefused(node)))
      return census.required(node, 0);
    const replicas = this.#replicasFor(key, node);
    if (typeof replicas === 'number') return census.required(node, replicas);
    return replicas.then((connected) => census.required(driver.nodeOf(key), connected));
  }

  /** Whether, by what is known at present, no replica has to. */
  isNoneNeeded(key: string): boolean {
    const { driver, census } = this.#settings;
    const node = driver.nodeOf(key);
    const known = census.known(node);
    return known !== undefined && census.required(node, known.replicas) === 0;
  }

  /** Fewer have acknowledged than were needed: how many are needed as things are now. */
  async neededNow(key: string): Promise<number> {
    const { driver, census } = this.#settings;
    census.doubt(driver.nodeOf(key));
    return this.needed(key);
  }

  /** A way to run a script on this key that so many replicas have to acknowledge. */
  sending(key: string, needed: number): Sending {
    const { driver, timeoutMs } = this.#settings;
    const node = driver.nodeOf(key);
    let courier = this.#couriers.get(node);
    if (courier === undefined) {
      const open = (onDown: () => void) => driver.openConnection(node, { onMessage() {}, onDown });
      courier = new Courier(open, timeoutMs);
      this.#couriers.set(node, courier);
    }
    return new Sending(courier, needed, (error) => {
      // Moved, or out of reach: another server may have the key by now, or will.
      if (classify(error) !== 'refused') void driver.rediscover(key);
    });
  }

  /**
   * The replicas of the server that has this key cannot be waited for. Where they were not insisted on, goes on
   * without, having said so, until somebody finds that it is allowed; answers whether it does.
   */
  giveUp(key: string, why: unknown): boolean {
    const { driver, census, onUnavailable } = this.#settings;
    census.refused(driver.nodeOf(key), why);
    if (census.wish !== 'auto') return false;
    onUnavailable(why);
    return true;
  }

  #replicasFor(key: string, node: string): number | Promise<number> {
    const { census } = this.#settings;
    const known = census.known(node);
    if (known === undefined) return this.#count(key, node);
    if (known.isOld) {
      // Asked for the next time: this one does not wait for the answer.
      census.counted(node, known.replicas);
      void this.#count(key, node).catch(() => undefined);
    }
    return known.replicas;
  }

  async #count(key: string, node: string): Promise<number> {
    const { census, count, onUnavailable } = this.#settings;
    const counted = await count(key);
    if (counted === null) {
      const why = new DriverError('The server does not tell how many replicas it has (INFO)');
      if (census.wish !== 'auto') throw why;
      onUnavailable(why);
    }
    census.counted(node, counted ?? 0);
    return counted ?? 0;
  }
}
