/**
 * What every protocol needs to speak to the server.
 */
import type { Clock } from '../clock.ts';
import type { ScriptRunner } from '../scripts/script.ts';
import type { GrantSender } from './grant-sender.ts';
import type { Guard } from './guard.ts';
import type { ReplicaCounts } from './replica-counts.ts';

export interface Wire {
  readonly driver: ScriptRunner;
  readonly clock: Clock;
  readonly replicaCounts: ReplicaCounts;
  /** Sends scripts that grant something; the driver sends everything else. */
  readonly grantSender: GrantSender;
  /** Left out where there is no failover protection. */
  readonly guard?: Guard | undefined;
  /** The command that wakes waiters: SPUBLISH where Redisson uses sharded channels. */
  readonly publish: 'PUBLISH' | 'SPUBLISH';
  /** Every script is written to one connection at most: once it is answered, no copy of it can arrive later. */
  readonly writesOnce: boolean;
  /** Whether PUBLISH counts all subscribers: with plain channels in a Cluster, a server counts only its own. */
  readonly isHeardByAll: boolean;
  /** How long the server remembers the answer of a request that may be repeated. */
  readonly rememberMs: number;
  /** The time limit of every call to the server. */
  readonly commandTimeoutMs: number;
  /** How long a waiter of a fair lock may be silent by Redisson's rules. */
  readonly fairWaitMs: number;
  /** The user's name → the main key, with mapping and prefix applied. */
  keyOf(name: string): string;
  /** To be called with the server's answer to the wake-up of a release: 1 when it accepted the message, 0 when not. */
  announced(accepted: number): void;
}
