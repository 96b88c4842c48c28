/**
 * What a client and its locks can be told, as users type it. How it is checked is in `options.ts`.
 */

/** How a client behaves. Every option has a default. */
export interface ClientOptions {
  /** The lease of a hold taken without `leaseMs`, renewed every third of it; 30 000. */
  watchdogMs?: number | undefined;
  /** Our own deadline on every call to the server, whatever the client library does; 3 000. */
  commandTimeoutMs?: number | undefined;
  /** Turns a name into the key that stands for it, like Redisson's `nameMapper`. */
  mapName?: ((name: string) => string) | undefined;
  /** Releases everything on SIGTERM and SIGINT before the process ends; false. */
  closeOnSignals?: boolean | undefined;
  /** How long a fair waiter may be silent before others skip it, by Redisson's rules; 300 000. */
  fairWaitMs?: number | undefined;
  /**
   * Replica acknowledgements without which an acquisition is undone: a number, 0 for none, `'majority'` of all servers,
   * or `'auto'`, the default: one, where there is a replica. A replica counts once it is online and has acknowledged
   * something, until it has been silent for 60 s; one that is being synchronised does not, nor does a reader that never
   * acknowledges.
   */
  replicas?: number | 'auto' | 'majority' | undefined;
  /** How long to wait for them, less than `commandTimeoutMs`; 1 000, or half of that if it is less. */
  replicaTimeoutMs?: number | undefined;
  /**
   * Keeps locks through failovers and restarts: for a grace after one, holders come back and nobody else is let in.
   * Default: false. `true` uses a grace of 30 000 ms; `{ graceMs }` sets another. Must be the same on all clients.
   */
  guard?: boolean | { readonly graceMs: number } | undefined;
  /**
   * A release may hand the lock to the next waiter of this process without a round trip, for `maxMs` (10) and `maxHolds`
   * (10 000) holds in a row; then others get their turn. For holds without a lease of their own. Default: true.
   */
  passOn?: boolean | { readonly maxMs?: number; readonly maxHolds?: number } | undefined;
  /** In a Cluster: sharded channels where the server has them, as Redisson does, or never. `'auto'`. */
  shardedPubSub?: 'auto' | false | undefined;
}

/** How one lock behaves, where it differs from its client. */
export interface LockKindOptions {
  /** Keeps this lock through failovers and restarts; see the option of the client. */
  guard?: boolean | undefined;
}
