/**
 * Everything that a dashboard knows, and who is told of it: one for all pages that are open.
 */
import type { AcquireMessage } from '../channels.ts';
import type { Holdfast } from '../client.ts';
import { CHART_STEP_MS, Charts } from './history/charts.ts';
import { Chronicle, type Event } from './history/chronicle.ts';
import { ProcessEvents, type ToldEvent } from './history/process-events.ts';
import type { DashboardSettings } from './options.ts';
import type { ChartPoint, Happening, Hello, Load, LockPage, RowHolder, ServerHealth } from './protocol.ts';
import { CommandBudget } from './sampling/command-budget.ts';
import { Listeners } from './sampling/listeners.ts';
import { LockTable } from './sampling/lock-table.ts';
import { paced } from './sampling/paced-driver.ts';
import type { Waiter } from './sampling/row.ts';
import { type Loop, Sampler } from './sampling/sampler.ts';
import { nameOf } from './sampling/seen-holder.ts';
import { Scope } from './scope.ts';
import { ServerWatch } from './server-watch.ts';

/** A page that is open. */
export interface Watcher {
  onLocks(key: string): void;
  onHealth(health: ServerHealth): void;
  onHappened(happening: Happening): void;
  onPoint(point: ChartPoint): void;
}

/** A lease of which less was left when it was last seen had missed renewals. */
const MISSED_PART = 0.5;

const NOT_MEASURED = { held: null, waitedFor: null, waiting: null };

/** What is between the names of its members in the name of a multi lock or red lock. */
const BETWEEN_MEMBERS = ' + ';

export class Board {
  readonly table: LockTable;
  readonly #client: Holdfast;
  readonly #title: string;
  readonly #scope: Scope;
  readonly #charts = new Charts();
  readonly #chronicle = new Chronicle();
  readonly #budget: CommandBudget;
  readonly #sampler: Sampler;
  readonly #servers: ServerWatch;
  readonly #events: ProcessEvents;
  readonly #watchers = new Set<Watcher>();
  readonly #steps: NodeJS.Timeout;
  /** The calls of this client that wait, by key; made anew for every moment that asks. */
  #waiters: { readonly at: number; readonly byKey: Map<string, Waiter[]> } = { at: 0, byKey: new Map() };
  /** What fails at present. */
  readonly #failures = new Map<Loop, string>();

  constructor(client: Holdfast, settings: DashboardSettings) {
    const { title, pattern, counters, maxCommandsPerSecond } = settings;
    const { wiring } = client;
    this.#client = client;
    this.#title = title;
    this.#scope = new Scope(pattern, wiring.driver.keyPrefix);
    this.#budget = new CommandBudget(maxCommandsPerSecond);
    this.table = new LockTable(
      {
        onChanged: (key) => this.#tell((watcher) => watcher.onLocks(key)),
        onTaken: (key, holder, at) => this.#onTaken(key, holder, at),
        onEnded: (key, holder, at, isOver) => this.#onEnded(key, holder, at, isOver),
      },
      (key) => this.#waitersOf(key),
    );
    const driver = paced(wiring.driver, this.#budget);
    this.#sampler = new Sampler({
      inspector: wiring.inspectorThrough(driver),
      listeners: new Listeners({
        driver,
        isSharded: () => wiring.wire(false).publish === 'SPUBLISH',
        onRefused: (why) => this.#onRefused(why),
      }),
      table: this.table,
      budget: this.#budget,
      pattern: wiring.driver.keyPrefix + pattern,
      counters,
      maxCommandsPerSecond,
      onFailed: (loop, error) => this.#onFailed(loop, error),
    });
    this.#servers = new ServerWatch(client, (health) => this.#tell((watcher) => watcher.onHealth(health)));
    this.#events = new ProcessEvents({
      onAcquireEnded: (message) => this.#onAcquireEnded(message),
      onEvent: (told) => this.#onTold(told),
    });
    this.#steps = setInterval(() => this.#step(), CHART_STEP_MS).unref();
  }

  /** @param csrf what a request to free a lock must carry; null where locks cannot be freed */
  hello(csrf: string | null): Hello {
    return {
      now: Date.now(),
      title: this.#title,
      csrf,
      chartStepMs: CHART_STEP_MS,
      points: this.#charts.points(),
      timeline: this.#chronicle.timeline(),
      health: this.#servers.last,
      load: this.load(),
    };
  }

  load(): Load {
    return this.#sampler.load();
  }

  page(key: string): LockPage {
    if (!this.#scope.has(key)) return { row: null, history: [] };
    return { row: this.table.row(key) ?? null, history: this.#chronicle.ofLock(key) };
  }

  /** Looks at one lock now. */
  refresh(key: string): Promise<void> {
    return this.#sampler.refresh(key);
  }

  note(event: Event, isNotable: boolean): void {
    const happening = this.#chronicle.note(event, isNotable);
    if (isNotable) this.#tell((watcher) => watcher.onHappened(happening));
  }

  watch(watcher: Watcher): void {
    this.#watchers.add(watcher);
    this.#sampler.watch();
    this.#servers.watch();
  }

  unwatch(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
    this.#sampler.unwatch();
    this.#servers.unwatch();
  }

  close(): void {
    clearInterval(this.#steps);
    this.#events.close();
    this.#servers.unwatch();
    this.#sampler.stop();
    this.#budget.close();
    this.#watchers.clear();
  }

  #tell(tell: (watcher: Watcher) => void): void {
    for (const watcher of this.#watchers) tell(watcher);
  }

  #step(): void {
    const measured = this.#sampler.isRunning ? this.table.totals() : NOT_MEASURED;
    const point = this.#charts.step(Date.now(), measured);
    this.#tell((watcher) => watcher.onPoint(point));
  }

  #onAcquireEnded(message: AcquireMessage): void {
    // A multi lock or red lock is one call, whatever it asks of its members.
    if (!message.isMember && this.#mayTell(message)) this.#charts.ended(message);
  }

  #onTold({ event, bareText, name, clientId }: ToldEvent): void {
    if (name === null) {
      this.note({ ...event, text: this.#scope.isWhole ? event.text : bareText }, true);
      return;
    }
    if (!this.#mayTell({ name, clientId })) return;
    if (event.what === 'lost') this.#charts.lost();
    this.note({ ...event, key: this.#keyOf(name, clientId) }, true);
  }

  /**
   * Whether the pattern lets the dashboard say anything of that lock. Of a client whose keys are not certain it lets it
   * say nothing, unless everything may be shown.
   */
  #mayTell({ name, clientId }: Pick<AcquireMessage, 'name' | 'clientId'>): boolean {
    if (this.#scope.isWhole) return true;
    return name.split(BETWEEN_MEMBERS).every((member) => {
      const key = this.#keyOf(member, clientId);
      return key !== null && this.#scope.has(key);
    });
  }

  #onTaken(key: string, holder: RowHolder, at: number): void {
    const who = nameOf(holder);
    const text = holder.isSeen ? 'holds it, as first seen now' : 'holds it';
    this.note(
      { at: holder.isSeen ? at : holder.since, what: 'taken', key, who, text, source: 'sampling' },
      false,
    );
  }

  /** The server does not say why a hold ended: if its lease had time left, somebody released it. */
  #onEnded(key: string, holder: RowHolder, at: number, isOver: boolean): void {
    const who = nameOf(holder);
    if (!isOver) {
      this.note({ at, what: 'released', key, who, text: 'no longer holds it', source: 'sampling' }, false);
      return;
    }
    // A holder that lives renews its lease long before its end; only rarely is a release seen that late.
    const { endsAt, leaseMs } = holder;
    const leaseOver = endsAt !== null && leaseMs !== null && at - endsAt < leaseMs * MISSED_PART;
    const text = 'its lease ended: it was not renewed, or was released at last';
    this.note({ at, what: 'gone', key, who, text, source: 'sampling' }, leaseOver);
  }

  /** Notes a failure once, until what failed has succeeded; a server that is away makes everything fail. */
  #onFailed(loop: Loop, error: unknown): void {
    if (error === undefined) {
      this.#failures.delete(loop);
      return;
    }
    const failure = error instanceof Error ? error.message : String(error);
    const isNews = !this.#failures.has(loop) && ![...this.#failures.values()].includes(failure);
    this.#failures.set(loop, failure);
    if (!isNews) return;
    const text = `the dashboard cannot look at the locks: ${failure}`;
    this.note({ at: Date.now(), what: 'error', key: null, who: null, text, source: 'sampling' }, true);
  }

  #onRefused(why: string): void {
    const text = `the server does not permit PUBSUB, so waiters of locks without a queue are not counted: ${why}`;
    this.note({ at: Date.now(), what: 'warning', key: null, who: null, text, source: 'sampling' }, true);
  }

  /** Only of this client is the key of a name certain: another one may map names otherwise, or use another server. */
  #keyOf(name: string, clientId: string): string | null {
    if (clientId !== this.#client.id) return null;
    try {
      return this.#client.wiring.wire().keyOf(name);
    } catch {
      return null;
    }
  }

  #waitersOf(key: string): readonly Waiter[] {
    const now = Date.now();
    if (now - this.#waiters.at > 100) this.#waiters = { at: now, byKey: this.#waitersByKey() };
    return this.#waiters.byKey.get(key) ?? [];
  }

  #waitersByKey(): Map<string, Waiter[]> {
    const byKey = new Map<string, Waiter[]>();
    for (const message of this.#events.waiting(this.#client.id)) {
      const key = this.#keyOf(message.name, message.clientId);
      if (key === null) continue;
      const waiters = byKey.get(key) ?? [];
      waiters.push(waiterOf(message));
      byKey.set(key, waiters);
    }
    return byKey;
  }
}

/** A call has an owner field once the server has granted it something. */
function waiterOf({ owner, clientId, label }: AcquireMessage): Waiter {
  return { owner: owner ?? clientId, label };
}
