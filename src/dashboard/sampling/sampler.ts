/**
 * Looks at the locks of the server again and again, within a budget of commands.
 *
 * Two loops share the budget in turn. One walks the key space and looks at keys that are not known to be locks. The other
 * looks again at known locks, those first that were looked at longest ago. So a few locks are seen every second, and ten
 * thousand every ten seconds, while a new one is found within one walk, which costs one command for 500 keys.
 *
 * They run at full pace while somebody watches. Afterwards they go on slowly for as long as the history reaches, and
 * then stop: a process whose dashboard nobody opens sends nothing.
 */
import type { ListOptions } from '../../inspect/description.ts';
import type { Inspector, Page } from '../../inspect/inspector.ts';
import { rateValueName } from '../../keys.ts';
import type { Load } from '../protocol.ts';
import type { CommandBudget } from './command-budget.ts';
import type { Listeners } from './listeners.ts';
import type { LockTable } from './lock-table.ts';

/** A known lock is not looked at again sooner. */
const LOOK_AGAIN_MS = 1_000;
/** Between two walks. */
const WALK_PAUSE_MS = 500;
/** Known locks that are looked at together. */
const AT_ONCE = 100;
/** After a failure, and while there is nothing to do. */
const FAILED_PAUSE_MS = 2_000;
const REST_MS = 200;
/** How much slower it is while nobody watches, and for how long. */
const SLOWER = 20;
const LINGER_MS = 3_600_000;

/** What is done again and again. */
export type Loop = 'walk' | 'look';

export interface SamplerSettings {
  readonly inspector: Inspector;
  readonly listeners: Listeners;
  readonly table: LockTable;
  readonly budget: CommandBudget;
  /** The keys to look at, as a pattern. */
  readonly pattern: string;
  readonly counters: boolean;
  readonly maxCommandsPerSecond: number;
  /** @param error undefined: the server answers that loop again */
  onFailed(loop: Loop, error: unknown): void;
}

export class Sampler {
  readonly #settings: SamplerSettings;
  readonly #options: ListOptions;
  /** A new one for every start: what belongs to a former one ends by itself. */
  #run: AbortController | undefined;
  #lingering: NodeJS.Timeout | undefined;
  #scanned = 0;
  #keys = 0;
  #sweepMs: number | null = null;
  /** Whether every known key was walked through at least once. */
  #isWhole = false;

  constructor(settings: SamplerSettings) {
    this.#settings = settings;
    this.#options = { counters: settings.counters };
  }

  /** Whether what the table has is current. */
  get isRunning(): boolean {
    return this.#run !== undefined && this.#isWhole;
  }

  load(): Load {
    const { budget, listeners, maxCommandsPerSecond } = this.#settings;
    return {
      scanned: this.#scanned,
      keys: Math.max(this.#keys, this.#scanned),
      sweepMs: this.#sweepMs,
      commandsPerSecond: budget.measured(),
      maxCommandsPerSecond,
      countsListeners: !listeners.isRefused,
    };
  }

  /** Somebody watches. */
  watch(): void {
    clearTimeout(this.#lingering);
    this.#settings.budget.perSecond = this.#settings.maxCommandsPerSecond;
    if (this.#run !== undefined) return;
    this.#settings.table.clear();
    this.#isWhole = false;
    const run = new AbortController();
    this.#run = run;
    void this.#repeat('walk', run.signal, () => this.#walk(run.signal));
    void this.#repeat('look', run.signal, () => this.#lookAgain());
  }

  /** Nobody watches any more. */
  unwatch(): void {
    const { budget, maxCommandsPerSecond } = this.#settings;
    budget.perSecond = Math.max(1, maxCommandsPerSecond / SLOWER);
    clearTimeout(this.#lingering);
    this.#lingering = setTimeout(() => this.stop(), LINGER_MS).unref();
  }

  stop(): void {
    clearTimeout(this.#lingering);
    this.#run?.abort();
    this.#run = undefined;
  }

  /** Looks at one lock now. */
  async refresh(key: string): Promise<void> {
    await this.#look([key]);
  }

  async #repeat(loop: Loop, signal: AbortSignal, work: () => Promise<number>): Promise<void> {
    while (!signal.aborted) {
      let pauseMs: number;
      try {
        pauseMs = await work();
      } catch (error) {
        pauseMs = FAILED_PAUSE_MS;
        if (!signal.aborted) this.#settings.onFailed(loop, error);
      }
      await pause(pauseMs, signal);
    }
  }

  /** Resolves to the pause until the next walk. */
  async #walk(signal: AbortSignal): Promise<number> {
    const { inspector, table, pattern } = this.#settings;
    const startedAt = performance.now();
    this.#scanned = 0;
    for await (const page of inspector.walk(pattern, this.#options, (key) => table.has(key))) {
      if (signal.aborted) return 0;
      this.#scanned += page.scanned;
      await this.#see(page.found);
    }
    this.#keys = this.#scanned;
    this.#sweepMs = Math.round(performance.now() - startedAt);
    this.#isWhole = true;
    this.#settings.onFailed('walk', undefined);
    return WALK_PAUSE_MS;
  }

  /** Resolves to the pause until the next ones are due. */
  async #lookAgain(): Promise<number> {
    const due = this.#settings.table.lookedAtBefore(Date.now() - LOOK_AGAIN_MS, AT_ONCE);
    if (due.length === 0) return REST_MS;
    await this.#look(due);
    this.#settings.onFailed('look', undefined);
    return 0;
  }

  async #look(keys: readonly string[]): Promise<void> {
    const { inspector, table } = this.#settings;
    const found = await inspector.look(keys, this.#options);
    const at = Date.now();
    for (const key of keys) if (!found.has(key)) table.miss(key, at);
    await this.#see(found);
  }

  async #see(found: Page['found']): Promise<void> {
    if (found.size === 0) return;
    const { inspector, listeners, table } = this.#settings;
    const sights = [...found.values()];
    const descriptions = await inspector.describe(sights);
    const listening = await listeners.count(descriptions);
    for (const [i, description] of descriptions.entries()) {
      // The permits left in a rate limiter are a whole number under a key of their own.
      const limiter = description.kind === 'counter' ? rateValueName(description.key) : undefined;
      const isPart = limiter !== undefined && table.row(limiter)?.kind === 'rateLimiter';
      const at = sights[i]?.at ?? Date.now();
      if (isPart) table.miss(description.key, at);
      else table.see(description, at, listening.get(description.key));
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
