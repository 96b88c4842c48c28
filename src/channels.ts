/**
 * The diagnostics channels of all clients of a process, and what is published on them. They are the only way in which the
 * core tells observers; logs, metrics and traces are subscribers. Without a subscriber, no message is built.
 *
 * An operation that takes time has a tracing channel. Its subscribers get the same object at every step, so that they
 * can keep what they know of the operation by that object; its later fields are undefined until the last step.
 * `tracing.ts` publishes the operations.
 */
import { channel, tracingChannel } from 'node:diagnostics_channel';
import type { LossReason } from './errors.ts';
import type { ClientEvents, PrimitiveKind } from './events.ts';

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
  /** How many permits are asked for; undefined for locks and latches. */
  readonly permits: number | undefined;
  /** A multi lock or red lock asks for its member; it has messages of its own. */
  readonly isMember: boolean;
  /**
   * - `granted`
   * - `timeout`: the caller's time was over, or its only attempt was refused
   * - `aborted`: by the caller's signal, or because the client closes
   * - `failed`: with an error
   */
  outcome?: 'granted' | 'timeout' | 'aborted' | 'failed';
  /** From the call to its result. */
  waitedMs?: number;
  /**
   * The attempts that were sent to the server: 0 when a holder of this process passed it on, or nothing was sent. Those
   * of a multi lock or red lock are its rounds.
   */
  attempts?: number;
  /** Others had it, or were ahead in this process. */
  contended?: boolean;
  /** The owner field, those of the members, or the id of the permit; undefined when it got several permits. */
  owner?: string | undefined;
  /** Of a fenced lock. */
  token?: number | undefined;
  /** What the call rejects with. */
  error?: unknown;
}

/**
 * A hold or a permit with a lease, from the grant to its end. Every entry of an owner is a hold, and so is the work of
 * `withPermit` of a semaphore, however many permits it has.
 */
export interface HoldMessage extends Subject {
  /** The owner field, those of the members, or the id of the permit; undefined where permits have no owner. */
  readonly owner: string | undefined;
  readonly token: number | undefined;
  /** It belongs to a multi lock or red lock, which has a hold of its own. */
  readonly isMember: boolean;
  /** The call that acquired it; the same object as on `holdfast:acquire`. */
  readonly acquire: AcquireMessage;
  /** `released`, also to the next waiter of this process, or lost before that. */
  ended?: 'released' | 'lost';
  /** Why it was lost. */
  reason?: LossReason | undefined;
  /** From the grant to the call that releases it, or to the loss. */
  heldMs?: number;
}

/**
 * One renewal: by the watchdog, where many holds of a client share one command, or of one hold by `extend`, or by
 * `updateLease` of a permit.
 */
export interface RenewMessage {
  readonly clientId: string;
  readonly label: string;
  /** How many are renewed. */
  readonly holds: number;
  /** How many the server no longer knew. */
  gone?: number;
  /** Why it failed. */
  error?: unknown;
}

/**
 * One release: from the call until the server has answered that the lock is free, the permits are back, or the latch is
 * counted down. A hold that is passed on inside the process has none, nor has an entry while its owner has others.
 * `forceUnlock` is a release by the client that calls it.
 */
export interface ReleaseMessage extends Subject {
  /**
   * The owner field, those of the members, or the id of the permit; undefined where permits have no owner, for a latch,
   * and where `forceUnlock` ends the holds of several readers.
   */
  readonly owner: string | undefined;
  /** How many permits are given back; undefined for locks and latches. */
  readonly permits: number | undefined;
  /**
   * `lost`: the server says that the owner no longer held it, that there is nothing to give permits back to, or that the
   * latch was open already.
   */
  outcome?: 'released' | 'lost' | 'failed';
  error?: unknown;
}

/** Why waiters of this process look again, besides a release in this process and the end of a pause. */
export interface WakeMessage {
  readonly clientId: string;
  /**
   * - `message`: a release was announced
   * - `look`: the poller found the lock free, without a message
   * - `subscribed`: after a gap in the subscription, in which a message may have been missed
   */
  readonly by: 'message' | 'look' | 'subscribed';
  /** The channel of the message or subscription in Redis, or the key of the lock. */
  readonly source: string;
}

/** What `client.on` tells, with the client that tells it. */
export type EventMessage<Name extends keyof ClientEvents> = ClientEvents[Name] & {
  readonly clientId: string;
};

export const acquireChannel = tracingChannel<unknown, AcquireMessage>('holdfast:acquire');
export const holdChannel = tracingChannel<unknown, HoldMessage>('holdfast:hold');
export const renewChannel = tracingChannel<unknown, RenewMessage>('holdfast:renew');
export const releaseChannel = tracingChannel<unknown, ReleaseMessage>('holdfast:release');
export const wakeChannel = channel('holdfast:wake');

/** The channel of each event of a client. */
export const eventChannels = {
  lost: channel('holdfast:lost'),
  atRisk: channel('holdfast:atRisk'),
  stalled: channel('holdfast:stalled'),
  warning: channel('holdfast:warning'),
  error: channel('holdfast:error'),
};

/** Whether calls that acquire something are followed: a hold is told of together with the call that acquired it. */
export function tracesAcquisitions(): boolean {
  return acquireChannel.hasSubscribers || holdChannel.hasSubscribers;
}

export function tracesReleases(): boolean {
  return releaseChannel.hasSubscribers;
}

export function tracesRenewals(): boolean {
  return renewChannel.hasSubscribers;
}

export function tellWake(clientId: string, by: WakeMessage['by'], source: string): void {
  if (wakeChannel.hasSubscribers) wakeChannel.publish({ clientId, by, source } satisfies WakeMessage);
}

export function tellEvent<Name extends keyof ClientEvents>(
  clientId: string,
  event: Name,
  payload: ClientEvents[Name],
): void {
  const events = eventChannels[event];
  if (events.hasSubscribers) events.publish({ ...payload, clientId } satisfies EventMessage<Name>);
}
