/**
 * The diagnostics channels of all clients of a process: their names, and what is published on them. They are the only
 * way in which the core tells observers; logs, metrics and traces are subscribers. Without a subscriber, no message is
 * built.
 *
 * An operation that takes time has a tracing channel. Its subscribers get the same object at every step, so that they
 * can keep what they know of the operation by that object; its later fields are undefined until the last step.
 */
import { channel, tracingChannel } from 'node:diagnostics_channel';
import type { LossReason } from './errors.ts';
import type { ClientEvents } from './events.ts';

/** What is acquired, held or released. */
export type PrimitiveKind =
  | 'lock'
  | 'nonReentrant'
  | 'fair'
  | 'fenced'
  | 'spin'
  | 'simple'
  | 'read'
  | 'write'
  | 'multi'
  | 'red'
  | 'semaphore'
  | 'permitSemaphore'
  | 'latch'
  | 'rateLimiter';

/** Which primitive of which client. */
export interface Subject {
  readonly clientId: string;
  /** The client's option `label`. */
  readonly label: string;
  readonly kind: PrimitiveKind;
  /** The user's name for it. */
  readonly name: string;
}

/** One call that acquires something, from the call to its result. Re-entries count. */
export interface AcquireMessage extends Subject {
  /**
   * - `granted`
   * - `timeout`: the caller's time was over, or its only attempt was refused
   * - `aborted`: by the caller's signal, or because the client closes
   * - `failed`: with an error
   */
  outcome?: 'granted' | 'timeout' | 'aborted' | 'failed';
  /** From the call to its result. */
  waitedMs?: number;
  /** The attempts that were sent to the server: 0 when a holder of this process passed it on, or nothing was sent. */
  attempts?: number;
  /** Others had it, or were ahead in this process. */
  contended?: boolean;
  /** The owner field, or the id of the permit. */
  owner?: string;
  /** Of a fenced lock. */
  token?: number;
  /** What the call rejects with. */
  error?: unknown;
}

/** A hold or a permit with a lease, from the grant to its end. */
export interface HoldMessage extends Subject {
  /** The owner field, or the id of the permit. */
  readonly owner: string;
  readonly token?: number;
  /** The call that acquired it; the same object as on `holdfast:acquire`, undefined if nobody listened then. */
  readonly acquire: AcquireMessage | undefined;
  ended?: 'released' | 'lost';
  reason?: LossReason;
  heldMs?: number;
}

/** One renewal by the watchdog: many holds of a client share one command. */
export interface RenewMessage {
  readonly clientId: string;
  readonly label: string;
  readonly holds: number;
  /** How many the server no longer knew. */
  gone?: number;
  error?: unknown;
}

/** One release: the command that frees the lock, until it is answered. A hold that is passed on inside the process has none. */
export interface ReleaseMessage extends Subject {
  readonly owner: string;
  /** `lost`: the server says that the owner no longer held it. */
  outcome?: 'released' | 'lost' | 'failed';
  error?: unknown;
}

/** Why a waiter of this process looks again. */
export interface WakeMessage {
  readonly clientId: string;
  /** `message`: by a message of the server; `look`: a look without one found it free. */
  readonly by: 'message' | 'look';
  /** The channel of the message, or the key. */
  readonly source: string;
}

/** What `client.on` tells, with the client that tells it. */
export type EventMessage<Name extends keyof ClientEvents> = ClientEvents[Name] & {
  readonly clientId: string;
};
