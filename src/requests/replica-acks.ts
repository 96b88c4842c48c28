/**
 * Waits for replica acknowledgements of a grant before the holder relies on it.
 *
 * Each server has a separate connection for grants, see `replicated-connection.ts`: other commands of the client are
 * not delayed.
 */
import type { Driver } from '../drivers/driver.ts';
import { DriverError } from '../errors.ts';
import { classify } from '../outcome.ts';
import type { ReplicaCounts } from './replica-counts.ts';
import { AcknowledgedRunner, ReplicatedConnection } from './replicated-connection.ts';

export interface ReplicaAckSettings {
  readonly driver: Driver;
  readonly replicaCounts: ReplicaCounts;
  readonly timeoutMs: number;
  /** Asks the server that has the key how many replicas acknowledge; null when the server does not reveal it. */
  count(key: string): Promise<number | null>;
  /** To be called when the server offers no acknowledgements and they were optional. */
  onUnavailable(why: unknown): void;
}

export class ReplicaAcks {
  readonly #settings: ReplicaAckSettings;
  readonly #replicatedConnections = new Map<string, ReplicatedConnection>();

  constructor(settings: ReplicaAckSettings) {
    this.#settings = settings;
  }

  /** How many replicas have to acknowledge a grant of this key; a promise when the server has to be asked first. */
  needed(key: string): number | Promise<number> {
    const { driver, replicaCounts } = this.#settings;
    const { requirement } = replicaCounts;
    const node = driver.nodeOf(key);
    if (typeof requirement === 'number' || (requirement === 'auto' && replicaCounts.isRefused(node)))
      return replicaCounts.required(node, 0);
    const replicas = this.#replicasFor(key, node);
    if (typeof replicas === 'number') return replicaCounts.required(node, replicas);
    return replicas.then((connected) => replicaCounts.required(driver.nodeOf(key), connected));
  }

  /** Whether, by the last count, no replica has to acknowledge a grant of this key. */
  isNoneNeeded(key: string): boolean {
    const { driver, replicaCounts } = this.#settings;
    const node = driver.nodeOf(key);
    const known = replicaCounts.known(node);
    return known !== undefined && replicaCounts.required(node, known.replicas) === 0;
  }

  /** Counts the replicas again after too few have acknowledged; answers how many are needed now. */
  async neededNow(key: string): Promise<number> {
    const { driver, replicaCounts } = this.#settings;
    replicaCounts.doubt(driver.nodeOf(key));
    return this.needed(key);
  }

  /** Makes a runner for scripts on this key whose writes `needed` replicas have to acknowledge. */
  runnerFor(key: string, needed: number): AcknowledgedRunner {
    const { driver, timeoutMs } = this.#settings;
    const node = driver.nodeOf(key);
    let replicatedConnection = this.#replicatedConnections.get(node);
    if (replicatedConnection === undefined) {
      const open = (onDown: () => void) => driver.openConnection(node, { onMessage() {}, onDown });
      replicatedConnection = new ReplicatedConnection(open, timeoutMs);
      this.#replicatedConnections.set(node, replicatedConnection);
    }
    return new AcknowledgedRunner(replicatedConnection, needed, driver, (error) => {
      // The key moved, or the server is out of reach: another server may have the key, now or soon.
      if (classify(error) !== 'refused') void driver.rediscover(key);
    });
  }

  /**
   * The client cannot wait for replicas of the server that has this key. If acknowledgements were optional, it warns
   * and goes on without them, until waiting turns out to be allowed. Answers whether it goes on.
   */
  giveUp(key: string, why: unknown): boolean {
    const { driver, replicaCounts, onUnavailable } = this.#settings;
    replicaCounts.refused(driver.nodeOf(key), why);
    if (replicaCounts.requirement !== 'auto') return false;
    onUnavailable(why);
    return true;
  }

  #replicasFor(key: string, node: string): number | Promise<number> {
    const { replicaCounts } = this.#settings;
    const known = replicaCounts.known(node);
    if (known === undefined) return this.#count(key, node);
    if (known.isOld) {
      // The new count serves the next grant; this one does not wait for it. If it fails, the old one stays.
      replicaCounts.counted(node, known.replicas);
      void this.#count(key, node).catch(() => undefined);
    }
    return known.replicas;
  }

  async #count(key: string, node: string): Promise<number> {
    const { replicaCounts, count, onUnavailable } = this.#settings;
    const counted = await count(key);
    if (counted === null) {
      const why = new DriverError('The server does not report how many replicas it has (INFO)');
      if (replicaCounts.requirement !== 'auto') throw why;
      onUnavailable(why);
    }
    replicaCounts.counted(node, counted ?? 0);
    return counted ?? 0;
  }
}
