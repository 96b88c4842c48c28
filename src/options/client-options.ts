/**
 * The options of a client and its locks, as users write them: `checks.ts` checks them, `settings.ts` has the defaults,
 * and `wiring.ts` hands them on.
 */

/** How a client behaves. Every option has a default. */
export interface ClientOptions {
  /** The lease of a hold taken without `leaseMs`; the watchdog renews it every third of this time. Default: 30 000. */
  watchdogMs?: number | undefined;
  /** holdfast's own time limit on every call to the server, whatever the client library does. Default: 3 000. */
  commandTimeoutMs?: number | undefined;
  /** Maps a name to its key, like Redisson's `nameMapper`. */
  mapName?: ((name: string) => string) | undefined;
  /**
   * Closes the client on SIGTERM and SIGINT, before the process ends. Default: false. `{ drainMs }` closes it as
   * `close({ drainMs })` does; a second signal then ends the drain at once.
   */
  closeOnSignals?: boolean | { readonly drainMs: number } | undefined;
  /** How long a waiter of a fair lock may be silent before others skip it, by Redisson's rules. Default: 300 000. */
  fairWaitMs?: number | undefined;
  /**
   * Replica acknowledgements without which an acquisition is undone: a number, 0 for none, `'majority'` of all
   * servers, or `'auto'`, the default: one if there is a replica. A replica counts once it is online and has
   * acknowledged something, until it has been silent for 60 s. A replica that is being synchronised does not count,
   * nor does a reader that never acknowledges.
   */
  replicas?: number | 'auto' | 'majority' | undefined;
  /** How long to wait for replicas; less than `commandTimeoutMs`. Default: 1 000, or half of that option if less. */
  replicaTimeoutMs?: number | undefined;
  /**
   * Keeps locks through failovers and restarts: during a grace, holders reclaim their locks and new owners wait.
   * Default: false. `true` uses a grace of 30 000 ms; `{ graceMs }` sets another. Must be the same on all clients.
   */
  guard?: boolean | { readonly graceMs: number } | undefined;
  /**
   * A release may hand the lock to the next waiter of this process without a round trip, for `maxMs` (10) and
   * `maxHolds` (10 000) holds in a row; then other processes get a turn. For holds without `leaseMs`. Default: true.
   */
  passOn?: boolean | { readonly maxMs?: number; readonly maxHolds?: number } | undefined;
  /**
   * The name by which people recognise this client. `inspect`, `list`, errors and events show it, and connections that
   * holdfast opens are named after it. From 1 to 200 printable characters. Default: `host:pid`.
   *
   * @example
   * ```ts
   * await using night = await Holdfast.connect('redis://127.0.0.1:6379', { label: 'night shift' });
   * await using hold = await night.getLock('gate').lock();
   * const found = await night.inspect('gate');
   * console.log(found.kind === 'lock' && found.holders[0].client?.label); // night shift
   * ```
   */
  label?: string | undefined;
  /**
   * Warns once, with the stack of the acquisition, when a lock or permit is held for longer. Default: off.
   *
   * @example
   * ```ts
   * await using careful = await Holdfast.connect('redis://127.0.0.1:6379', { warnHeldMs: 20 });
   * const warned = new Promise<void>((resolve) => {
   *   careful.once('warning', ({ code, about }) => {
   *     console.log(code, about?.name); // HOLDFAST_HELD_LONG gate
   *     resolve();
   *   });
   * });
   * await careful.getLock('gate').withLock(() => warned);
   * ```
   */
  warnHeldMs?: number | undefined;
  /** Warns once, with the stack of the call, when a lock or synchronizer is waited for longer. Default: off. */
  warnWaitMs?: number | undefined;
  /** In a Cluster: sharded channels if the server has them, as Redisson does, or never. Default: `'auto'`. */
  shardedPubSub?: 'auto' | false | undefined;
}

/** How to close a client. */
export interface CloseOptions {
  /**
   * How long sections, holds and permits may go on before they are told and released; `Infinity`: until all have ended.
   * 0, the default: no time.
   */
  drainMs?: number | undefined;
}

/** How one lock behaves, where it differs from its client. */
export interface LockKindOptions {
  /** Keeps this lock through failovers and restarts; see the client's option. */
  guard?: boolean | undefined;
}
