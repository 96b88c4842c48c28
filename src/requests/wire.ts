/**
 * What every protocol needs to speak to the server.
 */
import type { Driver } from '../drivers/driver.ts';
import type { GrantSender } from './grant-sender.ts';
import type { Guard } from './guard.ts';

export interface Wire {
  readonly driver: Pick<Driver, 'eval' | 'evalSha'>;
  /** What grants something goes this way, everything else by the driver. */
  readonly grantSender: GrantSender;
  /** Left out where the server's word is final. */
  readonly guard?: Guard | undefined;
  /** The command that wakes waiters: SPUBLISH where Redisson uses sharded channels. */
  readonly publish: 'PUBLISH' | 'SPUBLISH';
  /** Every script is written to one connection at most: of one that was answered, no copy can come later. */
  readonly writesOnce: boolean;
  /** The server that takes a message knows all who hear it; with plain channels in a Cluster it knows its own. */
  readonly isHeardByAll: boolean;
  /** How long the server remembers the answer of a request that may be repeated. */
  readonly rememberMs: number;
  /** The deadline of every call to the server. */
  readonly commandTimeoutMs: number;
  /** How long a waiter of a fair lock may be silent by Redisson's rules. */
  readonly fairWaitMs: number;
  /** The user's name → the main key, with mapping and prefix applied. */
  rawName(name: string): string;
  /** To be told whether the server took the wake-up of a release: 1 or 0. */
  announced(taken: number): void;
}
