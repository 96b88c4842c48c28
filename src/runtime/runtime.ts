/**
 * The parts of the runtime of one client, put together once and shared by its primitives.
 */

import { type Clock, LeaseClock } from '../clock.ts';
import type { Driver } from '../drivers/driver.ts';
import { ClosedError } from '../errors.ts';
import type { Report, WarningCode } from '../events.ts';
import { LinkedList } from '../linked-list.ts';
import { slotOf } from '../slots.ts';
import { BackgroundRetry } from './background-retry.ts';
import { Line } from './line.ts';
import { type Peek, Poller } from './poller.ts';
import type { Tenure } from './tenure.ts';
import { WaitBudget } from './wait-budget.ts';
import type { WakeChannels } from './wake/channels.ts';
import { WakeHub } from './wake/hub.ts';
import { Watchdog } from './watchdog.ts';

/** For how long, and how often, a lock may be passed on before other processes get a turn. */
export interface PassOn {
  readonly maxMs: number;
  readonly maxHolds: number;
}

/** This many lines are kept when empty, so that uncontended attempts do not create one each time. */
const MOST_LINES = 64;

/** A call that ends when the client closes. */
export interface Interruptible {
  interrupt(reason: unknown): void;
}

export interface RuntimeSettings {
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
}

export class Runtime {
  readonly driver: Driver;
  readonly clock: Clock;
  readonly leaseClock: LeaseClock;
  readonly watchdogMs: number;
  readonly commandTimeoutMs: number;
  readonly passOnWithin: PassOn | false;
  readonly report: Report;
  readonly hub: WakeHub;
  readonly backgroundRetry: BackgroundRetry;
  readonly watchdog: Watchdog;
  /** Calls that end when the client closes: acquisitions, and work that holds permits without a lease. */
  readonly underWay = new LinkedList<Interruptible>();
  /** All tenures held at present. */
  readonly tenures = new LinkedList<Tenure>();
  readonly #lines = new Map<string, Line>();
  readonly #poller: Poller;
  readonly #closing = new AbortController();
  #closed: ClosedError | undefined;

  constructor(settings: RuntimeSettings) {
    const { driver, clock, watchdogMs, commandTimeoutMs, report } = settings;
    this.driver = driver;
    this.clock = clock;
    this.leaseClock = new LeaseClock(clock);
    this.watchdogMs = watchdogMs;
    this.commandTimeoutMs = commandTimeoutMs;
    this.passOnWithin = settings.passOn ?? false;
    this.report = report;
    this.hub = new WakeHub(settings);
    this.#poller = new Poller(clock, settings.peek, (key) => this.slotOf(key));
    this.backgroundRetry = new BackgroundRetry(clock, report);
    this.watchdog = new Watchdog(this, watchdogMs);
  }

  /** How long the server remembers the answer to a release: a caller retries for no longer than its time-out. */
  get rememberMs(): number {
    return Math.min(this.commandTimeoutMs * 2, Number.MAX_SAFE_INTEGER);
  }

  /** Keys of one slot can share one script call; without a Cluster, all keys can. */
  slotOf(key: string): number {
    return this.driver.topology === 'cluster' ? slotOf(key) : 0;
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** @throws ClosedError */
  assertOpen(): void {
    if (this.#closed !== undefined) throw this.#closed;
  }

  /** The wait budget of one call; also ends when the client closes. The caller disposes of it. */
  waitBudget(waitMs: number, signal: AbortSignal | undefined): WaitBudget {
    return new WaitBudget(this.clock, waitMs, [this.#closing.signal, signal]);
  }

  /** The line of that id; for null (the server queues), a new line. */
  line(id: string | null): Line {
    if (id === null) return new Line(this.clock, this.hub, this.#poller, () => {});
    let line = this.#lines.get(id);
    if (line === undefined) {
      line = new Line(this.clock, this.hub, this.#poller, () => {
        if (this.#lines.size > MOST_LINES) this.#lines.delete(id);
      });
      this.#lines.set(id, line);
    }
    return line;
  }

  /** The line of that id if it has waiters; otherwise undefined. */
  lineOf(id: string | null): Line | undefined {
    const line = id === null ? undefined : this.#lines.get(id);
    return line?.isEmpty === false ? line : undefined;
  }

  /** Wakes the head of that line after a change in this process, without waiting for a message. */
  look(lineId: string | null): void {
    this.lineOf(lineId)?.wake();
  }

  /** The same for every line whose id has this prefix. */
  lookAtAll(prefix: string): void {
    for (const [id, line] of this.#lines) if (id.startsWith(prefix)) line.wake();
  }

  /**
   * Stops new work, rejects waiters, tells holders, releases their holds, and drops connections. Gives the
   * server one command time-out to answer.
   */
  async close(): Promise<void> {
    if (this.#closed !== undefined) return;
    this.#closed = new ClosedError();
    this.#closing.abort(this.#closed);
    for (const call of [...this.underWay]) call.interrupt(this.#closed);
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
    this.hub.close();
    await this.driver.close();
  }
}
