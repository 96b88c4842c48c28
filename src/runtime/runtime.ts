/**
 * The parts of the runtime of one client, put together once and handed to whoever needs them.
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
import type { WakeChannels } from './wake-channels.ts';
import { WakeHub } from './wake-hub.ts';
import { Watchdog } from './watchdog.ts';

/** For how long, and how often, a lock may be passed on before others get their turn. */
export interface PassOn {
  readonly maxMs: number;
  readonly maxHolds: number;
}

/** Of so many locks the line is kept when it is empty: it would be made anew for every uncontended attempt. */
const MOST_LINES = 64;

/** What ends when the client closes. */
export interface Interruptible {
  interrupt(reason: unknown): void;
}

export interface RuntimeSettings {
  readonly driver: Driver;
  readonly clock: Clock;
  readonly watchdogMs: number;
  readonly commandTimeoutMs: number;
  /** Within which bounds a lock is passed on inside this process; false: never. */
  readonly passOn?: PassOn | false;
  readonly report: Report;
  /** What was warned of is so no more. */
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
  /** Calls that end when the client closes: what is being acquired, and work that keeps what no lease would end. */
  readonly underWay = new LinkedList<Interruptible>();
  /** What is held at present. */
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

  /** How long the server remembers the answer of a release: a caller repeats it for no longer than its time-out. */
  get rememberMs(): number {
    return Math.min(this.commandTimeoutMs * 2, Number.MAX_SAFE_INTEGER);
  }

  /** Keys of one slot can be spoken of in one script; where there is no Cluster, all can. */
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

  /** The patience of one call, which also ends when the client closes. To be disposed of. */
  waitBudget(waitMs: number, signal: AbortSignal | undefined): WaitBudget {
    return new WaitBudget(this.clock, waitMs, [this.#closing.signal, signal]);
  }

  /** The line of that id; or a line for one, where the server queues. */
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

  /** The line of those of this process who wait there; undefined when none does. */
  lineOf(id: string | null): Line | undefined {
    const line = id === null ? undefined : this.#lines.get(id);
    return line?.isEmpty === false ? line : undefined;
  }

  /** Something changed in this process that the head of that line should look at, without waiting for a message. */
  look(lineId: string | null): void {
    this.lineOf(lineId)?.wake();
  }

  /** The same for every line whose id begins like this. */
  lookAtAll(prefix: string): void {
    for (const [id, line] of this.#lines) if (id.startsWith(prefix)) line.wake();
  }

  /**
   * Stops new work, turns waiters away, tells holders, releases what they held, and drops connections; gives
   * the server one command time-out to answer.
   */
  async close(): Promise<void> {
    if (this.#closed !== undefined) return;
    this.#closed = new ClosedError();
    this.#closing.abort(this.#closed);
    for (const call of [...this.underWay]) call.interrupt(this.#closed);
    // Those without an entry are being released by their last holder.
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
