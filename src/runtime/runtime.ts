/**
 * The parts of the runtime of one client, put together once and shared by its primitives.
 */

import { type Clock, LeaseClock } from '../clock.ts';
import type { Driver } from '../drivers/driver.ts';
import { ClosedError } from '../errors.ts';
import type { Report, WarningCode } from '../events.ts';
import { type Link, LinkedList } from '../linked-list.ts';
import { slotOf } from '../slots.ts';
import { BackgroundRetry } from './background-retry.ts';
import { Drain } from './drain.ts';
import { Lines } from './line.ts';
import { type LongHoldLimits, LongHoldWarnings } from './long-hold-warnings.ts';
import type { Tenure } from './tenure.ts';
import { WaitBudget } from './wait-budget.ts';
import type { WakeChannels } from './wake/channels.ts';
import { WakeHub } from './wake/hub.ts';
import { type Peek, Poller } from './wake/poller.ts';
import { Watchdog } from './watchdog.ts';

/** For how long, and how often, a lock may be passed on before other processes get a turn. */
export interface PassOn {
  readonly maxMs: number;
  readonly maxHolds: number;
}

/** A call that ends when the client closes. */
export interface Interruptible {
  interrupt(reason: unknown): void;
}

/** A call that is turned away when the client begins to close, unless its owner holds more than it asks for. */
export interface PendingCall extends Interruptible {
  readonly isDowngrade: boolean;
}

export interface RuntimeSettings {
  /** Who the client is, for those that observe it. */
  readonly clientId: string;
  readonly label: string;
  readonly driver: Driver;
  readonly clock: Clock;
  readonly watchdogMs: number;
  readonly commandTimeoutMs: number;
  /** The limits for passing a lock on inside this process; false: never. */
  readonly passOn?: PassOn | false;
  readonly report: Report;
  /** The cause of this warning has gone. */
  readonly takeBack: (code: WarningCode) => void;
  readonly channels: WakeChannels;
  /** Looks at many locks in one call. */
  readonly peek: Peek;
  /** Called when the client begins to hold something, and regularly while it does. */
  readonly whileHolding?: () => void;
  /** Which holds and waits to warn of; left out: none. */
  readonly longHoldLimits?: LongHoldLimits | undefined;
}

export class Runtime {
  readonly clientId: string;
  readonly label: string;
  readonly driver: Driver;
  readonly clock: Clock;
  readonly leaseClock: LeaseClock;
  readonly watchdogMs: number;
  readonly commandTimeoutMs: number;
  /**
   * How long the server remembers the end of a hold, or an answer that its caller has got. Twice the time-out of a
   * command: a caller retries for one, and its last attempt may be under way for another.
   */
  readonly rememberMs: number;
  readonly passOnWithin: PassOn | false;
  readonly report: Report;
  readonly hub: WakeHub;
  readonly backgroundRetry: BackgroundRetry;
  readonly watchdog: Watchdog;
  readonly whileHolding: () => void;
  /** Left out where no option asks for it. */
  readonly longHoldWarnings: LongHoldWarnings | undefined;
  /** Acquisitions and waits under way. */
  readonly underWay = new LinkedList<PendingCall>();
  /** All tenures held at present. */
  readonly tenures = new LinkedList<Tenure>();
  /** Work that holds permits without a lease. */
  readonly working = new LinkedList<Interruptible>();
  readonly lines: Lines;
  readonly #ending = new AbortController();
  /** Set when the client begins to close: no acquisition and no wait begins after that, except downgrades. */
  closing: ClosedError | undefined;
  /** Set when the drain is over, at once without one: no call begins after that. */
  closed: ClosedError | undefined;
  #drain: Drain | undefined;

  constructor(settings: RuntimeSettings) {
    const { driver, clock, watchdogMs, commandTimeoutMs, report } = settings;
    this.clientId = settings.clientId;
    this.label = settings.label;
    this.driver = driver;
    this.clock = clock;
    this.leaseClock = new LeaseClock(clock);
    this.watchdogMs = watchdogMs;
    this.commandTimeoutMs = commandTimeoutMs;
    this.rememberMs = Math.min(commandTimeoutMs * 2, Number.MAX_SAFE_INTEGER);
    this.passOnWithin = settings.passOn ?? false;
    this.report = report;
    this.hub = new WakeHub(settings);
    this.lines = new Lines(clock, this.hub, new Poller(settings, (key) => this.slotOf(key)));
    this.backgroundRetry = new BackgroundRetry(clock, report);
    this.watchdog = new Watchdog(this, watchdogMs);
    this.whileHolding = settings.whileHolding ?? (() => {});
    this.longHoldWarnings =
      settings.longHoldLimits && new LongHoldWarnings(clock, report, settings.longHoldLimits);
  }

  /** Keys of one slot can share one script call; without a Cluster, all keys can. */
  slotOf(key: string): number {
    return this.driver.topology === 'cluster' ? slotOf(key) : 0;
  }

  /** @throws ClosedError when every call is refused; while the client drains, most calls still work */
  assertOpen(): void {
    if (this.closed !== undefined) throw this.closed;
  }

  /** @throws ClosedError when acquisitions are refused: from the beginning of a drain on */
  assertAdmitting(): void {
    if (this.closing !== undefined) throw this.closing;
  }

  /** A tenure has been released, is lost, or continues as another one. */
  tenureEnded(place: Link<Tenure>): void {
    this.tenures.remove(place);
    this.#drain?.look();
  }

  /** Work that held permits is done. */
  workEnded(place: Link<Interruptible>): void {
    this.working.remove(place);
    this.#drain?.look();
  }

  /** The wait budget of one call; also ends when the client closes. The caller disposes of it. */
  waitBudget(waitMs: number, signal: AbortSignal | undefined): WaitBudget {
    return new WaitBudget(this.clock, waitMs, [this.#ending.signal, signal]);
  }

  /**
   * Begins to close: rejects waiters and refuses acquisitions, while everything held goes on. Returns a promise for the
   * end of that, or undefined when nothing is held.
   */
  drain(forMs: number): Promise<void> | undefined {
    if (this.closing !== undefined) return undefined;
    this.closing = new ClosedError('The holdfast client is closing: it takes nothing new');
    for (const call of [...this.underWay]) if (!call.isDowngrade) call.interrupt(this.closing);
    const isIdle = () => this.tenures.isEmpty && this.working.isEmpty;
    if (isIdle()) return undefined;
    this.#drain = new Drain(this.clock, forMs, isIdle);
    return this.#drain.over;
  }

  /** Ends a drain under way after this time at the latest. */
  shortenDrain(toMs: number): void {
    this.#drain?.endWithin(toMs);
  }

  /**
   * Stops new work, rejects waiters, tells holders, releases their holds, and drops connections. Gives the
   * server one command time-out to answer.
   */
  async close(): Promise<void> {
    if (this.closed !== undefined) return;
    this.closed = new ClosedError();
    this.closing = this.closed;
    this.#ending.abort(this.closed);
    for (const call of [...this.underWay, ...this.working]) call.interrupt(this.closed);
    // The last holder of a tenure without entries is releasing it already.
    for (const tenure of [...this.tenures]) if (tenure.count > 0) tenure.revoke('closed');
    await new Promise<void>((resolve) => {
      const cancel = this.clock.after(this.commandTimeoutMs, resolve);
      void this.backgroundRetry.drained().then(() => {
        cancel();
        resolve();
      });
    });
    this.backgroundRetry.close();
    this.watchdog.close();
    this.longHoldWarnings?.close();
    this.hub.close();
    await this.driver.close();
  }
}
